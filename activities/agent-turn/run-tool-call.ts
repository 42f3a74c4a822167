import { Context, type Info } from '@temporalio/activity';
import type {
  RunToolInput,
  RunToolResult,
  ApprovalNeeded,
  EffectReport,
  EffectUnverified,
} from '../../contracts/activity-types.ts';
import { cleanLine, cutMiddle, cutText } from '../../core/text/cut-text.ts';
import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { EffectOrder } from '../../contracts/effect.ts';
import { checkApproval, needsApproval } from '../../core/effects/decide-approval.ts';
import type { EffectState } from '../../core/effects/step-effect.ts';
import { engineLimits } from '../../core/limits.ts';
import type { ActContext, Loss } from '../tools/tool.ts';
import { prepareCall, describeFailure, runWithin, type ToolAnswer } from '../tools/call-tool.ts';
import { readAgent, readJson } from '../artifacts/read-artifact.ts';
import {
  assertCurrent,
  heartbeatEveryMsDefault,
  noteWork,
  startHeartbeat,
  endCancelled,
  readCancelCause,
} from '../attempt/heartbeat.ts';
import type { EffectLedger } from '../ports/effect-ledger.ts';
import { StoreUnavailable } from '../ports/artifact-store.ts';
import {
  effectKeyOf,
  recallEffect,
  recheckEffect,
  runEffect,
  type EffectCall,
  type EffectEnd,
} from '../tools/run-effect.ts';
import { toolTimeoutMsDefault, type AgentTurnDeps } from './deps.ts';
import { toolsGranted } from './offer-tools.ts';

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
  let readTail: (() => string) | null = null;
  const heartbeat = startHeartbeat(context, everyMs, () => ({
    ...details,
    last_words: lastLine(readTail?.() ?? ''),
  }));
  try {
    const answer = await answerCall(
      deps,
      input,
      () => assertCurrent(context, heartbeat.hasMissed),
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

/** Maximum lines, and characters of each, that say what a call would replace. They go into history. */
const lossLinesMax = 40;
const lossCharsMax = 200;

/** Maximum characters of a reason in the record. */
const reasonCharsMax = 1_000;

/** The result of a call: a text for the model, or what only the user can decide. */
type CallAnswer =
  | (ToolAnswer & { readonly effect?: EffectReport })
  | ApprovalNeeded
  | EffectUnverified;

/** A call of a tool that acts, without what its effect adds. */
type ActingOrder = Omit<EffectCall, 'ledger' | 'key' | 'runId' | 'resolution'>;

interface ActingCaller {
  readonly ledger: EffectLedger;
  readonly input: RunToolInput;
  readonly agent: AgentDefinition;
  /** The arguments as the model wrote them. */
  readonly args: unknown;
  readonly info: Info;
}

/**
 * Runs a call that changes something outside.
 *
 * Nothing is begun without the user's approval where one is needed; what was begun is finished without another one,
 * because the approval was for exactly this call.
 */
async function runActingCall(caller: ActingCaller, call: ActingOrder): Promise<CallAnswer> {
  const { ledger, input } = caller;
  const { tool } = call;
  const target = tool.targetOf(call.input);
  const order = input.effect;
  if (order === undefined) {
    return failed(
      target,
      `${tool.spec.name} was called in a way that leaves no record, so nothing was done.`,
    );
  }
  const effect = effectOf(caller, call, order);
  const recalled = await recheckEffect(effect, await recallEffect(ledger, effect.key));
  const { state } = recalled.step;
  // A retry was chosen by the user, who saw the call then.
  const isNew = state.type === 'intended' && state.round === 1;
  const refusal = isNew ? await findRefusal(caller, order, call) : null;
  if (refusal !== null) return refusal;
  const end = await runEffect(effect, recalled);
  const answer = describeEnd(tool.spec.name, target, end);
  if (end.type !== 'confirmed' || end.receipt === null || tool.describeDone === undefined) {
    return answer;
  }
  return { ...answer, text: await tool.describeDone(end.receipt, call.context) };
}

function effectOf(
  { ledger, input, info }: ActingCaller,
  call: ActingOrder,
  order: EffectOrder,
): EffectCall {
  const { workflowId = '', runId = '' } = info.workflowExecution ?? {};
  const { place = workflowId, chain_id, effect_id, executions = [], resolution } = order;
  const key = effectKeyOf({
    workflow_id: place,
    chain_id,
    effect_id,
    tool: call.tool.spec.name,
    arguments_ref: input.call.input_ref,
  });
  return { ...call, ledger, key, runId, executions, resolution };
}

/** @returns null when the call may be made. */
async function findRefusal(
  { input, agent, args }: ActingCaller,
  order: EffectOrder,
  call: ActingOrder,
): Promise<CallAnswer | null> {
  const { tool } = call;
  const target = tool.targetOf(call.input);
  const loss = await findLoss(call);
  if (typeof loss === 'string') return failed(target, loss);
  const isGuarded = order.guarded === true;
  const terms = {
    mark: tool.approval,
    risk: agent.risk_level,
    losesWork: loss !== null,
    isGuarded,
  };
  if (!needsApproval(terms)) return null;
  const before = loss?.before ?? '';
  const shown = {
    effect_id: order.effect_id,
    tool: tool.spec.name,
    arguments_ref: input.call.input_ref,
    before,
  };
  switch (checkApproval(order.approval, shown, Math.floor(Date.now() / 1_000))) {
    case 'holds':
      return null;
    case 'missing': {
      const text = JSON.stringify(args);
      const arguments_shown = cutMiddle(text, engineLimits.shownArgumentsCharsMax);
      const lines = (loss?.lines ?? []).slice(0, lossLinesMax);
      const loss_shown = lines.map((line) => cutText(line, lossCharsMax));
      return { type: 'needs_approval', target, arguments_shown, before, loss_shown };
    }
    case 'expired':
      return failed(
        target,
        `The user's approval of this call has expired, and nothing was done. Try: call ${tool.spec.name} again if it is still needed; the user is then asked again.`,
      );
  }
}

/** @returns what the call would replace; the reason when it can't be made at all. */
async function findLoss(call: ActingOrder): Promise<Loss | string | null> {
  const { tool, input, context, timeoutMs } = call;
  try {
    return await runWithin(
      async (inner) => (await tool.describeLoss?.(input, inner)) ?? null,
      context,
      timeoutMs,
    );
  } catch (error) {
    if (error instanceof StoreUnavailable) throw error;
    context.signal.throwIfAborted();
    return describeFailure(tool, error);
  }
}

function describeEnd(tool: string, target: string, end: EffectEnd): CallAnswer {
  switch (end.type) {
    case 'unverified': {
      const { type, found, round } = end;
      return { type, target, found: cutText(found, reasonCharsMax), round };
    }
    case 'failed':
      return failed(target, end.reason);
    case 'skipped': {
      const text = `Nobody knows whether ${tool} changed ${JSON.stringify(target)}, and the user chose to go on without it. Don't claim it, and don't rely on it.`;
      const effect = { state: end.type, target, receipt: null, reason: end.found };
      return { text, is_error: true, effect: cutReason(effect) };
    }
    case 'confirmed': {
      const { type: state, receipt } = end;
      const reason = receipt === null ? 'vouched for by the user' : '';
      const text = describeConfirmed(tool, target, end);
      return { text, is_error: false, effect: { state, target, receipt, reason } };
    }
  }
}

function describeConfirmed(
  tool: string,
  target: string,
  { receipt }: Extract<EffectState, { type: 'confirmed' }>,
): string {
  const name = JSON.stringify(target);
  if (receipt === null) return `${tool}: the user says that ${name} is as it was to be.`;
  if (receipt.removed === true)
    return `${tool}: ${name} is removed. It may stand in effects_claimed as ${name}.`;
  return `${tool}: ${name} is written, ${receipt.bytes} bytes, SHA-256 ${receipt.sha256}. It may stand in effects_claimed as ${name}.`;
}

function failed(target: string, reason: string): CallAnswer {
  const effect = cutReason({ state: 'failed', target, receipt: null, reason });
  return { text: reason, is_error: true, effect };
}

function cutReason(effect: EffectReport): EffectReport {
  return { ...effect, reason: cutText(effect.reason, reasonCharsMax) };
}
