import { Context } from '@temporalio/activity';
import type { RunToolInput, RunToolResult } from '../../contracts/activity-types.ts';
import { callTool } from '../tools/call-tool.ts';
import type { ToolAnswer } from '../tools/call-tool.ts';
import { countBytes } from '../tools/cut-bytes.ts';
import type { ToolContext } from '../tools/tool.ts';
import { readAgent, readJson } from '../tools/read-artifact.ts';
import { endCancelled, readCancelCause } from './cancellation.ts';
import type { AgentTurnDeps } from './deps.ts';
import { heartbeatEveryMsDefault, startHeartbeat } from './heartbeat.ts';

const toolTimeoutMsDefault = 60_000;

/** One tool call. Whatever the tool does, the model gets a result to go on with. */
export async function runToolCall(
  deps: AgentTurnDeps,
  input: RunToolInput,
): Promise<RunToolResult> {
  const context = Context.current();
  const details = { agent_id: input.agent_id, tool: input.call.name };
  const everyMs = deps.heartbeatEveryMs ?? heartbeatEveryMsDefault;
  const heartbeat = startHeartbeat(context, everyMs, () => details);
  try {
    const loaded = new Set<string>();
    const { text, is_error } = await answerCall(deps, input, context, (id) => loaded.add(id));
    const result_ref = await deps.store.put(text);
    const loaded_details = is_error ? [] : [...loaded];
    return { result_ref, is_error, size: countBytes(text), loaded_details };
  } catch (error) {
    const cause = readCancelCause(context);
    if (cause !== null) return await endCancelled(context, cause);
    throw error;
  } finally {
    heartbeat.stop();
  }
}

async function answerCall(
  deps: AgentTurnDeps,
  input: RunToolInput,
  context: Context,
  onLoaded: ToolContext['onLoaded'],
): Promise<ToolAnswer> {
  const [agent, args] = await Promise.all([
    readAgent(deps.store, input.registry_ref, input.agent_id),
    readJson(deps.store, input.call.input_ref),
  ]);
  return callTool(
    deps.tools,
    {
      name: input.call.name,
      input: args,
      allowedTools: agent.allowed_tools,
      timeoutMs: deps.toolTimeoutMs ?? toolTimeoutMsDefault,
    },
    {
      store: deps.store,
      record_ref: input.record_ref,
      upstream: input.upstream,
      loads_left: input.loads_left,
      onLoaded,
      signal: context.cancellationSignal,
    },
  );
}
