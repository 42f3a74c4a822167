/**
 * Whether a call needs the user's consent, and whether a consent holds for it (seed 004 §11).
 *
 * Invariants:
 *   AP1. An agent of high risk needs it for every tool that goes by risk; a tool marked `always` for every agent.
 *   AP2. Only the answer "approve" of a person is one: no default, no answer of the planner or the engine, no other text.
 *   AP3. It holds for the one call that was shown: this effect, this tool, these arguments.
 *   AP4. It holds for `approvalSecondsMax` after the question was asked, and not when the clock went back.
 */
import type { RiskLevel } from '../../contracts/agent-definition.ts';
import type { Approval } from '../../contracts/effect.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import { engineLimits } from '../limits.ts';
import { isPerson } from '../questions/is-person.ts';

/** When a tool wants the user's consent. `by_risk`: when the agent's risk_level is high. */
export type ApprovalMark = 'never' | 'by_risk' | 'always';

/** The answers that an approval question offers. */
export const approvalChoices = ['approve', 'deny'] as const;

/** What an approval is bound to. */
export type ShownCall = Pick<Approval, 'effect_id' | 'tool' | 'arguments_ref'>;

export type ApprovalVerdict = 'holds' | 'missing' | 'expired';

/** Seconds by which the clocks of two machines may differ. */
const clockSkewSeconds = 300;

export function needsApproval(mark: ApprovalMark, risk: RiskLevel): boolean {
  return mark === 'always' || (mark === 'by_risk' && risk === 'high');
}

/**
 * @param askedAt Unix epoch seconds.
 * @returns the consent that an answer gives to the call that was shown, or null when it gives none.
 */
export function readApproval(
  shown: ShownCall,
  answer: DeliveredAnswer | undefined,
  askedAt: number,
): Approval | null {
  if (answer === undefined || !isPersons(answer) || answer.answer !== 'approve') return null;
  const { effect_id, tool, arguments_ref } = shown;
  return { effect_id, tool, arguments_ref, question_id: answer.question_id, asked_at: askedAt };
}

/** Whether a person gave the answer, not a default, the planner, or the engine because it did not ask. */
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
    approval.arguments_ref === call.arguments_ref;
  if (!isBound) return 'missing';
  const age = now - approval.asked_at;
  return age >= -clockSkewSeconds && age <= engineLimits.approvalSecondsMax ? 'holds' : 'expired';
}
