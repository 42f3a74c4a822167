/**
 * Decides whether a call needs the user's consent, and whether a consent holds for it (seed 004 §11).
 *
 * Invariants:
 *   AP1. An agent of high risk needs consent for each tool marked `by_risk`; every agent needs it for a tool marked
 *        `always`, and for a call that replaces or removes the work of others.
 *        A guarded call needs it always.
 *   AP2. Only the answer "approve" of a person is a consent: no default, no answer of the planner or the engine, no
 *        other text.
 *   AP3. A consent holds for the one call that was shown: this effect, this tool, these arguments, and what they
 *        replace.
 *   AP4. A consent holds for `approvalSecondsMax` after the question was asked, and not when the clock went back.
 */
import type { RiskLevel } from '../../contracts/agent-definition.ts';
import type { Approval, EffectResolution } from '../../contracts/effect.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import { engineLimits } from '../limits.ts';
import { cleanLine, cutText } from '../text/cut-text.ts';
import { commandText } from '../text/format.ts';
import { isPerson } from '../questions/answer-kinds.ts';
import type { PlannedDelegation } from '../../contracts/messages.ts';

/** Condition under which a tool needs the user's consent. `by_risk`: when the agent's risk_level is high. */
export type ApprovalMark = 'never' | 'by_risk' | 'always';

export const approvalChoices = ['approve', 'deny'] as const;

/** Parts of a call that an approval is bound to. */
export type ShownCall = Pick<Approval, 'effect_id' | 'tool' | 'arguments_ref' | 'before'>;

export type ApprovalVerdict = 'holds' | 'missing' | 'expired';

/** Seconds by which the clocks of two machines may differ. */
const clockSkewSeconds = 300;

/** Facts about a call that decide whether it needs the user's consent. */
export interface ApprovalFacts {
  readonly mark: ApprovalMark;
  readonly risk: RiskLevel;
  /** True when the call replaces or removes what the run did not write. */
  readonly losesWork: boolean;
  /** True when its delegation reads untrusted text, has private data and acts outside. */
  readonly isGuarded: boolean;
}

export function needsApproval({ mark, risk, losesWork, isGuarded }: ApprovalFacts): boolean {
  return losesWork || isGuarded || mark === 'always' || (mark === 'by_risk' && risk === 'high');
}

/**
 * @param askedAt Unix epoch seconds.
 * @returns the consent that the answer gives to the call that was shown, or null.
 */
export function readApproval(
  shown: ShownCall,
  answer: DeliveredAnswer | undefined,
  askedAt: number,
): Approval | null {
  if (answer === undefined || !isPersons(answer) || answer.answer !== 'approve') return null;
  const { effect_id, tool, arguments_ref, before } = shown;
  return {
    effect_id,
    tool,
    arguments_ref,
    before,
    question_id: answer.question_id,
    asked_at: askedAt,
  };
}

/**
 * Returns true for a person's answer: not a default, not the planner's, and not the engine's own when it did not ask.
 */
export function isPersons({ answered_by, loop }: DeliveredAnswer): boolean {
  return !loop && isPerson(answered_by);
}

/** @param now Unix epoch seconds. */
export function checkApproval(
  approval: Approval | null,
  call: ShownCall,
  now: number,
): ApprovalVerdict {
  const isBound =
    approval !== null &&
    approval.effect_id === call.effect_id &&
    approval.tool === call.tool &&
    approval.arguments_ref === call.arguments_ref &&
    approval.before === call.before;
  if (!isBound) return 'missing';
  const age = now - approval.asked_at;
  return age >= -clockSkewSeconds && age <= engineLimits.approvalSecondsMax ? 'holds' : 'expired';
}

/**
 * Words the questions about a call that changes something outside, and reads their answers.
 *
 * Invariants:
 *   EQ1. The question shows tool, agent, delegation and arguments (long ones with their beginning and their end) on one
 *        line each, without invisible characters, and the address of the whole arguments: the SHA-256 of
 *        what is stored, which others can't have. What the call would replace is shown line by line. The question of a
 *        guarded delegation says why it is guarded.
 *   EQ2. The question about an unverified effect has no default: only a person can say that it took place or is to be
 *        repeated.
 */

/** The agent and delegation that want to make a call, or have made it. */
type Caller = Pick<PlannedDelegation, 'agent_id' | 'delegation_id' | 'rule_of_two'>;

const resolutions: readonly EffectResolution[] = ['verified', 'retry', 'skip'];

const targetCharsMax = 200;
const foundCharsMax = 700;
const reasonCharsMax = 400;
const runIdCharsMax = 1_000;
/** Lines, and characters of each, that say what a call would replace. */
const lossLinesMax = 10;
const lossCharsMax = 60;

/** @param shown The arguments as JSON, whole or cut. */
export function approvalQuestion(
  { agent_id, delegation_id, rule_of_two }: Caller,
  shown: ShownCall & {
    readonly run_id: string;
    readonly target: string;
    readonly arguments_shown: string;
    readonly loss_shown: readonly string[];
  },
): AskedQuestion {
  const text = [
    `May the agent "${agent_id}" call ${cleanLine(shown.tool, targetCharsMax)} on "${cleanLine(shown.target, targetCharsMax)}"?`,
    `Delegation: ${delegation_id} (${shown.effect_id})`,
    ...(rule_of_two === undefined
      ? []
      : [`Each of its calls is asked for, because it ${cleanLine(rule_of_two, reasonCharsMax)}.`]),
    ...shown.loss_shown.slice(0, lossLinesMax).map((line) => cleanLine(line, lossCharsMax)),
    `Arguments: ${cleanLine(shown.arguments_shown, engineLimits.shownArgumentsCharsMax)}`,
    `SHA-256 of the whole arguments as they are stored, and their address in the store: ${shown.arguments_ref}`,
    `All of them: ${commandText('questions', cleanLine(shown.run_id, runIdCharsMax), '--full')}, or ${commandText('artifact', shown.arguments_ref)}`,
  ].join('\n');
  return {
    text: cutText(text, engineLimits.questionCharsMax),
    why_it_matters:
      'The call changes something outside of the run. The approval is for this call alone, with these arguments.',
    priority: 'critical',
    expected_answer_format: 'choice',
    choices: [...approvalChoices],
    default_answer: 'deny',
  };
}

export function unverifiedQuestion(
  { agent_id, delegation_id }: Caller,
  call: Omit<ShownCall, 'before'> & { readonly target: string; readonly found: string },
): AskedQuestion {
  const text = [
    `Did ${cleanLine(call.tool, targetCharsMax)} change "${cleanLine(call.target, targetCharsMax)}"? It was interrupted, and nobody knows.`,
    `Agent: ${agent_id}, delegation: ${delegation_id} (${call.effect_id})`,
    `Found: ${cleanLine(call.found, foundCharsMax)}`,
    `SHA-256 of the arguments as they are stored, and their address in the store: ${call.arguments_ref}`,
    '"verified": it is done. "retry": do it (again). "skip": go on without it.',
  ].join('\n');
  return {
    text: cutText(text, engineLimits.questionCharsMax),
    why_it_matters: 'The call is not repeated by itself, because it may have taken place.',
    priority: 'critical',
    expected_answer_format: 'choice',
    choices: [...resolutions],
    default_answer: null,
  };
}

/** Returns `skip` when no person gave a valid answer: that repeats nothing and claims nothing. */
export function readResolution(answer: DeliveredAnswer | undefined): EffectResolution {
  if (answer === undefined || !isPersons(answer)) return 'skip';
  return resolutions.find((one) => one === answer.answer) ?? 'skip';
}

/** Words the result that the model reads when its call was not approved. */
export function describeDenial(tool: string, answer: DeliveredAnswer | undefined): string {
  const why =
    answer === undefined || isPersons(answer)
      ? 'The user did not approve it.'
      : `Nobody approved it (${cleanLine(answer.answer ?? '', targetCharsMax)}).`;
  return `${tool} was not called, and nothing was changed. ${why} Try: go on without it, put what depends on it into criteria_unmet, and don't ask for the same again.`;
}
