import { Context } from '@temporalio/activity';
import type { RunToolInput, RunToolResult } from '../../contracts/activity-types.ts';
import { callTool, prepareCall } from '../tools/call-tool.ts';
import type { PreparedCall, ToolAnswer } from '../tools/call-tool.ts';
import { countBytes } from '../text/bytes.ts';
import type { ToolContext } from '../tools/tool.ts';
import { readAgent, readJson } from '../artifacts/read-artifact.ts';
import { assertCurrent } from '../attempt/while-current.ts';
import { noteWork } from '../attempt/attempt-work.ts';
import { endCancelled, readCancelCause } from '../attempt/cancellation.ts';
import type { AgentTurnDeps } from './deps.ts';
import { heartbeatEveryMsDefault, startHeartbeat } from '../attempt/heartbeat.ts';
import { toolsGranted } from './offer-tools.ts';
import { runActingCall } from './run-acting-call.ts';
import type { CallAnswer } from './run-acting-call.ts';

const toolTimeoutMsDefault = 60_000;

/**
 * Runs one tool call. Whatever the tool does, the model gets a result to continue with; a call that changes something
 * outside may first need the user's approval.
 */
export async function runToolCall(
  deps: AgentTurnDeps,
  input: RunToolInput,
): Promise<RunToolResult> {
  const context = Context.current();
  const details = { agent_id: input.agent_id, tool: input.call.name };
  noteWork(context, { kind: 'tool_call', delegation_id: input.delegation_id, ...details });
  const everyMs = deps.heartbeatEveryMs ?? heartbeatEveryMsDefault;
  const heartbeat = startHeartbeat(context, everyMs, () => details);
  const { hasMissed } = heartbeat;
  try {
    const loaded = new Set<string>();
    const answer = await answerCall(
      deps,
      input,
      () => assertCurrent(context, hasMissed),
      (id) => loaded.add(id),
    );
    if ('type' in answer) return answer;
    const { text, is_error, effect } = answer;
    const result_ref = await deps.store.put(text);
    return {
      type: 'done',
      result_ref,
      is_error,
      size: countBytes(text),
      loaded_details: is_error ? [] : [...loaded],
      ...(effect !== undefined && { effect }),
    };
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
  checkCurrent: () => Promise<void>,
  onLoaded: ToolContext['onLoaded'],
): Promise<CallAnswer> {
  const [agent, args] = await Promise.all([
    readAgent(deps.store, input.registry_ref, input.agent_id),
    readJson(deps.store, input.call.input_ref),
  ]);
  const prepared: PreparedCall | ToolAnswer = prepareCall(deps.tools, {
    name: input.call.name,
    input: args,
    allowedTools: toolsGranted(deps.tools, agent),
  });
  if ('is_error' in prepared) return prepared;
  const { tool } = prepared;
  const { info, cancellationSignal } = Context.current();
  const timeoutMs = deps.toolTimeoutMs ?? toolTimeoutMsDefault;
  const context: ToolContext = {
    store: deps.store,
    run_id: input.run_id,
    delegation_id: input.delegation_id ?? '',
    record_ref: input.record_ref,
    upstream: input.upstream,
    loads_left: input.loads_left,
    onLoaded,
    signal: cancellationSignal,
  };
  if (tool.effect === 'read') return callTool(tool, prepared.input, context, timeoutMs);
  const actingMs = tool.timeoutMsOf?.(prepared.input) ?? timeoutMs;
  return runActingCall(
    { ledger: deps.effects, input, agent, args, info },
    { tool, input: prepared.input, context, timeoutMs: actingMs, assertCurrent: checkCurrent },
  );
}
