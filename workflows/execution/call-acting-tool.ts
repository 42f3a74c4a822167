import { listUpstream } from '../../core/workspace/run-changes.ts';
import { CancellationScope, isCancellation, workflowInfo } from '@temporalio/workflow';
import type {
  ApprovalNeeded,
  EffectReport,
  EffectUnverified,
  ToolDone,
  RunToolResult,
} from '../../contracts/activity-types.ts';
import type { Approval, EffectOrder, RecordedEffect } from '../../contracts/effect.ts';
import type { ToolCall, TurnInput, StateToolCall } from '../../contracts/model-turn.ts';
import {
  approvalQuestion,
  describeDenial,
  readApproval,
  readResolution,
  unverifiedQuestion,
} from '../../core/effects/decide-approval.ts';
import { changesFolder } from '../../core/effects/step-effect.ts';
import { effectId } from '../../core/ids.ts';
import { engineLimits } from '../../core/limits.ts';
import { storeText, runTool } from '../shared/activities.ts';
import { nowSeconds } from '../shared/clock.ts';
import type { FailureType } from '../../contracts/errors.ts';
import type { DelegationOrder } from '../../contracts/delegation-run.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { AskedQuestion, QuestionKind } from '../../contracts/question.ts';
import type { Usage } from '../../contracts/usage.ts';
import type { KnownEffect } from '../../core/output/check-evidence.ts';
import type { Budget } from '../shared/budget.ts';
import type { Control } from '../shared/control.ts';
import type { Superior } from '../shared/superior.ts';
import { isStoreFault, untilDone } from '../shared/failures.ts';
import { definedOnly } from '../../core/json.ts';

/** Call in flight: what is known of it, and the user's decision. */
interface ActingCall {
  readonly call: ToolCall;
  readonly context: ToolContext;
  readonly effect_id: string;
  known: EffectReport;
  /** True when an activity may have made the change. */
  mayBeMade: boolean;
  approval: Approval | null;
  resolution: EffectOrder['resolution'];
}

const nothingYet: EffectReport = { state: 'intended', target: '', receipt: null, reason: '' };

/**
 * Makes a call that changes something outside. It is in the record before it is made; the user is asked when it needs
 * an approval, and when its result is unknown. `core/effects` interprets the answer.
 */
export async function callActingTool(call: ToolCall, context: ToolContext): Promise<TurnInput> {
  const { delegation_id } = context.order.delegation;
  if (context.work.effects.length >= engineLimits.effectsMax) {
    const why = `This delegation has tried ${engineLimits.effectsMax} changes, which is the limit. Nothing was changed. Try: finish with what there is.`;
    return errorResult(call, why);
  }
  const effect_id = effectId(delegation_id, context.work.effects.length + 1);
  const acting: ActingCall = {
    call,
    context,
    effect_id,
    known: nothingYet,
    mayBeMade: false,
    approval: null,
    resolution: null,
  };
  // Counted before it is made, so that no two calls ever have one id.
  context.work.effects.push({ effect_id, target: '', state: 'intended' });
  try {
    await report(acting, nothingYet);
    return await untilSettled(acting);
  } catch (error) {
    await CancellationScope.nonCancellable(() => report(acting, leftBehind(acting, error)));
    throw error;
  }
}

async function untilSettled(acting: ActingCall): Promise<TurnInput> {
  const { call, context } = acting;
  for (;;) {
    await context.control.ready();
    const make = (): Promise<RunToolResult> => {
      acting.mayBeMade = true;
      return makeCall(call, context, orderOf(acting));
    };
    // While the user is asked, others may act.
    const inTurn = changesFolder(call.name) ? context.inTurn : undefined;
    const result = await (inTurn?.(make) ?? make());
    switch (result.type) {
      case 'done':
        return settle(acting, result);
      case 'needs_approval': {
        const denial = await askForApproval(acting, result);
        if (denial !== null) return errorResult(call, denial);
        break;
      }
      case 'unverified':
        await askWhatHappened(acting, result);
    }
  }
}

function orderOf({ context, effect_id, approval, resolution }: ActingCall): EffectOrder {
  const { crashed, begun, delegation } = context.order;
  const { chain_id = workflowInfo().firstExecutionRunId, place } = crashed ?? begun ?? {};
  const executions = crashed?.executions;
  return {
    effect_id,
    chain_id,
    ...definedOnly({ place, executions }),
    approval,
    resolution,
    ...(delegation.rule_of_two !== undefined && { guarded: true }),
  };
}

async function settle(acting: ActingCall, done: ToolDone): Promise<TurnInput> {
  const { result_ref, is_error, effect } = done;
  // A refused call, such as one outside the grant, has no effect to report.
  const refused: EffectReport = { ...nothingYet, state: 'failed', reason: 'The call was refused.' };
  await report(acting, effect ?? refused);
  return { type: 'tool_result', tool_use_id: acting.call.tool_use_id, result_ref, is_error };
}

/** @returns the reason for the model why the call is not made; null when the user approved it. */
async function askForApproval(acting: ActingCall, needed: ApprovalNeeded): Promise<string | null> {
  const { context } = acting;
  const { target } = needed;
  acting.known = { ...nothingYet, target };
  acting.mayBeMade = false;
  const askedAt = nowSeconds();
  const shown = { ...shownOf(acting), before: needed.before };
  const { run_id, delegation } = context.order;
  const question = approvalQuestion(delegation, { ...shown, ...needed, run_id });
  const answer = await context.ask('approval', question, engineLimits.approvalSecondsMax);
  acting.approval = readApproval(shown, answer, askedAt);
  if (acting.approval !== null) return null;
  const denial = describeDenial(acting.call.name, answer);
  await report(acting, { state: 'denied', target, receipt: null, reason: denial });
  return denial;
}

async function askWhatHappened(acting: ActingCall, unverified: EffectUnverified): Promise<void> {
  const { context } = acting;
  const { target, found, round } = unverified;
  await report(acting, { state: 'unverified', target, receipt: null, reason: found });
  const shown = { ...shownOf(acting), target, found };
  const answer = await context.ask('effect', unverifiedQuestion(context.order.delegation, shown));
  acting.resolution = { round, choice: readResolution(answer) };
}

function shownOf({ call, effect_id }: ActingCall) {
  return { effect_id, tool: call.name, arguments_ref: call.input_ref };
}

/** Records what is known of an effect, for the agent's claims and for the record. */
async function report(acting: ActingCall, known: EffectReport): Promise<void> {
  const { call, context, effect_id, approval } = acting;
  const { wave, delegation } = context.order;
  acting.known = known;
  const at = context.work.effects.findIndex((one) => one.effect_id === effect_id);
  const { target, state, receipt } = known;
  const made = { tool: call.name, arguments_ref: call.input_ref, receipt };
  context.work.effects[at] = { effect_id, target, state, ...(state === 'confirmed' && made) };
  const effect: RecordedEffect = {
    effect_id,
    wave,
    delegation_id: delegation.delegation_id,
    agent_id: delegation.agent_id,
    tool: call.name,
    arguments_ref: call.input_ref,
    ...known,
    approval_question_id: approval?.question_id ?? null,
    updated_at: nowSeconds(),
  };
  await context.superior.report(effect);
}

/**
 * Reports the effect of a call that was interrupted: what was known for good stays so, though a stop kept its report back;
 * while it waited for an approval or for its turn nothing was changed; otherwise the effect is unknown.
 */
function leftBehind({ known, approval, mayBeMade }: ActingCall, error: unknown): EffectReport {
  if (known.state !== 'intended' && known.state !== 'unverified') return known;
  const waits = known.state === 'intended' && known.target !== '' && approval === null;
  const how = isCancellation(error) ? 'stopped' : 'given up';
  const ended = (state: 'failed' | 'unverified', before: string): EffectReport => {
    return { ...known, state, reason: `It was ${how} before ${before}.` };
  };
  if (waits) return ended('failed', 'anybody approved it');
  if (!mayBeMade) return ended('failed', 'it was made');
  return ended('unverified', 'anybody knew');
}

/** @param text message for the model. */
async function errorResult(call: ToolCall, text: string): Promise<TurnInput> {
  const { ref } = await storeText({ text });
  return { type: 'tool_result', tool_use_id: call.tool_use_id, result_ref: ref, is_error: true };
}

/** Traces of a delegation's tool calls, changed as they are made. */
export interface ToolWork {
  /** Defined in DelegationOutcome. */
  loadedDetails: readonly string[];
  /** Attempted changes outside, in their order. */
  readonly effects: KnownEffect[];
}

export type InTurn = <T>(call: () => Promise<T>) => Promise<T>;

/** Everything that the tool calls of a delegation need. */
export interface ToolContext {
  readonly order: DelegationOrder;
  readonly control: Control;
  readonly superior: Superior;
  readonly work: ToolWork;
  /** Budget of the caller, for model calls that a tool makes. */
  readonly budget: Budget;
  /** Called with the use of such a call, which counts as the caller's. */
  readonly onSpent: (usage: Usage) => void;
  /** Makes calls that change the folder one after the other, for callers that share a copy of it. Absent: there is one caller. */
  readonly inTurn?: InTurn;
  /** Returns the summary of a call of this tool. */
  readonly label: (tool: string) => string;
  /** Puts one question to the user. Throws when the delegation is cancelled while it waits. */
  readonly ask: (
    kind: QuestionKind,
    question: AskedQuestion,
    deadlineSeconds?: number,
  ) => Promise<DeliveredAnswer | undefined>;
}

/** Returns true when an activity makes the call; calls on the records of a triad are decided by its workflow itself. */
export function isToolCall(call: ToolCall | StateToolCall): call is ToolCall {
  return !('state' in call);
}

const blocked: FailureType = 'Blocked';

/**
 * Makes a call that changes something outside. One that blocks one worker after the other, or lacks its store or an artifact,
 * parks the run; it is repeated when the run is resumed.
 */
function makeCall(
  call: ToolCall,
  { order, label, superior }: Pick<ToolContext, 'order' | 'label' | 'superior'>,
  effect: EffectOrder,
): Promise<RunToolResult> {
  const { run_id, registry_ref, record_ref, delegation, upstream } = order;
  const { agent_id, delegation_id } = delegation;
  const builds_on = listUpstream(upstream);
  const caller = { run_id, agent_id, delegation_id, builds_on };
  const input = { ...caller, registry_ref, call, record_ref, effect };
  return untilDone(
    () => runTool.executeWithOptions({ summary: label(call.name) }, [input]),
    (reason) => superior.park(reason),
    (failure) => failure.type === blocked || isStoreFault(failure),
  );
}
