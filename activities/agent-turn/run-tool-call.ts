import { Context } from '@temporalio/activity';
import type { RunToolInput, RunToolResult } from '../../contracts/activity-types.ts';
import { cleanLine } from '../../core/text/cut-text.ts';
import type { ActContext } from '../tools/tool.ts';
import { prepareCall } from '../tools/call-tool.ts';
import { readAgent, readJson } from '../artifacts/read-artifact.ts';
import { assertCurrent } from '../attempt/while-current.ts';
import { heartbeatEveryMsDefault, noteWork, startHeartbeat } from '../attempt/heartbeat.ts';
import { endCancelled, readCancelCause } from '../attempt/cancellation.ts';
import { toolTimeoutMsDefault } from './deps.ts';
import type { AgentTurnDeps } from './deps.ts';
import { toolsGranted } from './offer-tools.ts';
import { runActingCall } from './run-acting-call.ts';
import type { CallAnswer } from './run-acting-call.ts';

/**
 * Runs one call of a tool that changes something outside. Whatever the tool does, the model gets a result to continue
 * with; the call may first need the user's approval.
 */
export async function runToolCall(
  deps: AgentTurnDeps,
  input: RunToolInput,
): Promise<RunToolResult> {
  const context = Context.current();
  const { agent_id, delegation_id } = input;
  const details = { agent_id, delegation_id, tool: input.call.name };
  noteWork(context, { kind: 'tool_call', ...details });
  const everyMs = deps.heartbeatEveryMs ?? heartbeatEveryMsDefault;
  let readTail = readNothing;
  const heartbeat = startHeartbeat(context, everyMs, () => ({
    ...details,
    last_words: lastLine(readTail()),
  }));
  const { hasMissed } = heartbeat;
  try {
    const answer = await answerCall(
      deps,
      input,
      () => assertCurrent(context, hasMissed),
      (read) => {
        readTail = read;
      },
    );
    if ('type' in answer) return answer;
    const { text, ...rest } = answer;
    return { type: 'done', result_ref: await deps.store.put(text), ...rest };
  } catch (error) {
    const cause = readCancelCause(context);
    if (cause !== null) return await endCancelled(context, cause);
    throw error;
  } finally {
    heartbeat.stop();
  }
}

function readNothing(): string {
  return '';
}

/** Characters of the line of a running command that people see. */
const lastLineCharsMax = 200;

/** Returns the last line that is complete: half a secret is not known for one. */
function lastLine(text: string): string {
  const lines = text.split(/[\r\n]/).slice(0, -1);
  const shown = lines.map((line) => cleanLine(line, lastLineCharsMax));
  return shown.findLast((line) => line !== '') ?? '';
}

async function answerCall(
  deps: AgentTurnDeps,
  input: RunToolInput,
  checkCurrent: () => Promise<void>,
  onTail: ActContext['onTail'],
): Promise<CallAnswer> {
  const [agent, args] = await Promise.all([
    readAgent(deps.store, input.registry_ref, input.agent_id),
    readJson(deps.store, input.call.input_ref),
  ]);
  const prepared = prepareCall(deps.tools, {
    name: input.call.name,
    input: args,
    allowedTools: toolsGranted(deps.tools, agent),
  });
  if ('is_error' in prepared) return prepared;
  const { tool } = prepared;
  if (tool.effect !== 'acting') throw new Error(`${tool.spec.name} changes nothing outside.`);
  const { info, cancellationSignal: signal } = Context.current();
  const { store } = deps;
  const { run_id, record_ref, delegation_id = '', builds_on } = input;
  const timeoutMs = deps.toolTimeoutMs ?? toolTimeoutMsDefault;
  return runActingCall(
    { ledger: deps.effects, input, agent, args, info },
    {
      tool,
      input: prepared.input,
      context: { store, run_id, delegation_id, builds_on, record_ref, signal },
      timeoutMs: tool.timeoutMsOf?.(prepared.input) ?? timeoutMs,
      assertCurrent: checkCurrent,
      onTail,
    },
  );
}
