/**
 * Applies the planner's verdict on an agent's question.
 *
 * Invariants:
 *   PV1. A question that the planner passes on to the user is critical, and says why it came to the user.
 *   PV2. The planner's answer is taken only when it fits the question; otherwise the user is asked.
 *   PV3. A verdict counts only for questions of agents, and never assumes the answer to a critical question.
 */
import { answererNames } from '../../contracts/names.ts';
import type { QuestionsEscalation } from '../../contracts/messages.ts';
import type { PlannerVerdict } from '../../contracts/question-review.ts';
import type { AskedQuestion, Question } from '../../contracts/question.ts';
import type { UnaskedAnswer } from './answer-unasked.ts';
import { checkAnswer } from './check-answer.ts';

/** @returns null when there is no verdict that counts. */
export function verdictOn(
  { kind, questions, verdicts }: QuestionsEscalation,
  place: number,
): PlannerVerdict | null {
  const verdict = verdicts?.[place] ?? null;
  const isAssumed = verdict?.verdict === 'assumed' && questions[place]?.priority === 'critical';
  return kind !== 'blocking' || isAssumed ? null : verdict;
}

/** Returns the question with the verdict applied. */
export function applyVerdict(asked: AskedQuestion, verdict: PlannerVerdict | null): AskedQuestion {
  if (verdict?.verdict !== 'needs_user_input') return asked;
  const why = [asked.why_it_matters.trim(), `The planner: ${verdict.reason}`];
  return {
    ...asked,
    priority: 'critical',
    why_it_matters: why.filter((part) => part !== '').join(' '),
  };
}

/** @returns null when the planner does not answer the question. */
export function answerByVerdict(
  question: Question,
  verdict: PlannerVerdict | null,
): UnaskedAnswer | null {
  if (verdict === null || verdict.verdict === 'needs_user_input') return null;
  const checked = verdict.answer === null ? null : checkAnswer(question, verdict.answer);
  if (checked?.ok !== true) return null;
  const isAnswer = verdict.verdict === 'answered';
  return {
    text: checked.text,
    answered_by: isAnswer ? answererNames.planner : answererNames.plannerAssumption,
    source_refs: verdict.source_refs,
  };
}
