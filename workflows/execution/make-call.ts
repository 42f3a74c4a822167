import type { RunToolResult } from '../../contracts/activity-types.ts';
import type { EffectOrder } from '../../contracts/effect.ts';
import type { FailureType } from '../../contracts/errors.ts';
import type { DelegationOrder } from '../../contracts/delegation-run.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { StateToolCall, ToolCall } from '../../contracts/model-turn.ts';
import type { AskedQuestion, QuestionKind } from '../../contracts/question.ts';
import type { Usage } from '../../contracts/usage.ts';
import type { KnownEffect } from '../../core/output/check-evidence.ts';
import { runTool } from '../shared/activities.ts';
import type { Budget } from '../shared/budget.ts';
import type { Control } from '../shared/control.ts';
import { isStoreFault } from '../shared/read-failure.ts';
import type { Superior } from '../shared/superior.ts';
import { untilDone } from '../shared/until-done.ts';

/** Traces of a delegation's tool calls, changed as they are made. */
export interface ToolWork {
  /** Defined in DelegationOutcome. */
  loadedDetails: readonly string[];
  /** Attempted changes outside, in their order. */
  readonly effects: KnownEffect[];
}

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
export function makeCall(
  call: ToolCall,
  { order, label, superior }: Pick<ToolContext, 'order' | 'label' | 'superior'>,
  effect: EffectOrder,
): Promise<RunToolResult> {
  const { run_id, registry_ref, record_ref, delegation, upstream } = order;
  const { agent_id, delegation_id } = delegation;
  const builds_on = upstream.map((output) => output.delegation_id);
  const caller = { run_id, agent_id, delegation_id, builds_on };
  const input = { ...caller, registry_ref, call, record_ref, effect };
  return untilDone(
    () => runTool.executeWithOptions({ summary: label(call.name) }, [input]),
    (reason) => superior.park(reason),
    (failure) => failure.type === blocked || isStoreFault(failure),
  );
}
