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
import type { Approval } from '../../contracts/effect.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import { engineLimits } from '../limits.ts';
import { isPerson } from '../questions/is-person.ts';

/** Condition under which a tool needs the user's consent. `by_risk`: when the agent's risk_level is high. */
export type ApprovalMark = 'never' | 'by_risk' | 'always';

/** Choices of an approval question. */
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
