/**
 * Answers a question the moment it is asked, when the run's input allows that.
 *
 * Invariants:
 *   AU1. With `use_defaults` a question that has a default is answered with it.
 *   AU2. With autonomy "assume" a question of the planner or an agent that is not critical becomes an assumption: its
 *        default, or the most careful one. A critical one is put to the user.
 *   AU3. A question of the engine is never assumed.
 */
import type { QuestionsEscalation } from '../../contracts/messages.ts';
import { answererNames } from '../../contracts/names.ts';
import type {
  AskedQuestion,
  Autonomy,
  PlannerVerdict,
  Question,
} from '../../contracts/question.ts';
import { checkAnswer, parseDefault } from './check-answer.ts';
import type { AnswerRule } from './check-answer.ts';

/** Answer to the asker when there is no default to assume. */
export const noDefaultAnswer =
  'None given: take the most careful assumption, and name it in assumptions_made.';

export interface UnaskedAnswer {
  readonly text: string;
  readonly answered_by: string;
  /** Sources that the planner took it from. */
  readonly source_refs?: readonly string[];
}

/** @returns null when the question waits for an answer. */
export function answerUnasked(
  question: AnswerRule & Pick<Question, 'kind' | 'priority'>,
  run: { readonly use_defaults: boolean; readonly autonomy: Autonomy },
): UnaskedAnswer | null {
  const parsed = parseDefault(question);
  const fallback = parsed?.ok === true ? parsed.text : null;
  if (run.autonomy === 'assume' && isAssumable(question)) {
    return { text: fallback ?? noDefaultAnswer, answered_by: answererNames.assumption };
  }
  return run.use_defaults && fallback !== null
    ? { text: fallback, answered_by: answererNames.default }
    : null;
}

function isAssumable({ kind, priority }: Pick<Question, 'kind' | 'priority'>): boolean {
  const isModels = kind === 'blocking' || kind === 'planner' || kind === 'design';
  return isModels && priority !== 'critical';
}

/**
 * Applies the planner's verdict on an agent's question.
 *
 * Invariants:
 *   PV1. A question that the planner passes on to the user is critical, and says why it came to the user.
 *   PV2. The planner's answer is taken only when it fits the question; otherwise the user is asked.
 *   PV3. A verdict counts only for questions of agents, and never assumes the answer to a critical question.
 *   PV4. A decision of the architect is an answer that was decided; without one the question goes to the user.
 *
 * @returns null when there is no verdict that counts.
 */
export function verdictOn(
  { kind, questions, verdicts }: QuestionsEscalation,
  place: number,
): PlannerVerdict | null {
  const verdict = verdicts?.[place] ?? null;
  const isAssumed = verdict?.verdict === 'assumed' && questions[place]?.priority === 'critical';
  return kind !== 'blocking' || isAssumed ? null : verdict;
}

export function applyVerdict(asked: AskedQuestion, verdict: PlannerVerdict | null): AskedQuestion {
  if (verdict?.verdict !== 'needs_user_input') return asked;
  const why = [endSentence(asked.why_it_matters.trim()), `The planner: ${verdict.reason}`];
  return {
    ...asked,
    priority: 'critical',
    why_it_matters: why.filter((part) => part !== '').join(' '),
  };
}

function endSentence(text: string): string {
  return text === '' || /[.!?]$/.test(text) ? text : `${text}.`;
}

/** @returns null when the planner does not answer the question. */
export function answerByVerdict(
  question: Question,
  verdict: PlannerVerdict | null,
): UnaskedAnswer | null {
  if (verdict === null || verdict.verdict === 'needs_user_input') return null;
  if (verdict.verdict === 'awaits') return null;
  const checked = verdict.answer === null ? null : checkAnswer(question, verdict.answer);
  if (checked?.ok !== true) return null;
  const answered_by = signatures[verdict.verdict];
  return { text: checked.text, answered_by, source_refs: verdict.source_refs };
}

const signatures = {
  answered: answererNames.planner,
  assumed: answererNames.plannerAssumption,
  architect: answererNames.architect,
} as const;
