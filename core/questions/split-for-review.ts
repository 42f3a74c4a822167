/**
 * Which questions of an agent the planner looks at before the user, and how the answers come together again.
 *
 * Invariants:
 *   RS1. A critical question goes to the user at once. The planner looks at no question that the run settles by itself.
 *   RS2. Each question goes one way, and the answers come back in the order of the questions.
 */
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { Autonomy } from '../../contracts/question-rules.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import { parseDefault } from './check-answer.ts';

/** How a run treats questions that are not critical. */
export interface AskingMode {
  readonly use_defaults: boolean;
  readonly autonomy: Autonomy;
}

export interface ReviewSplit {
  /** Places of the questions in the list, from 0. */
  readonly direct: readonly number[];
  readonly reviewed: readonly number[];
}

export function splitForReview(questions: readonly AskedQuestion[], mode: AskingMode): ReviewSplit {
  const places = questions.map((_, place) => place);
  const isReviewed = (place: number): boolean => {
    const question = questions[place];
    return question !== undefined && needsReview(question, mode);
  };
  return {
    direct: places.filter((place) => !isReviewed(place)),
    reviewed: places.filter(isReviewed),
  };
}

export function mergeAnswers(
  { direct, reviewed }: ReviewSplit,
  answers: {
    readonly direct: readonly DeliveredAnswer[];
    readonly reviewed: readonly DeliveredAnswer[];
  },
): DeliveredAnswer[] {
  return [
    ...direct.map((place, i) => ({ place, answer: answers.direct[i] })),
    ...reviewed.map((place, i) => ({ place, answer: answers.reviewed[i] })),
  ]
    .toSorted((a, b) => a.place - b.place)
    .flatMap(({ answer }) => answer ?? []);
}

function needsReview(question: AskedQuestion, { autonomy, use_defaults }: AskingMode): boolean {
  if (question.priority === 'critical' || autonomy === 'assume') return false;
  return !(use_defaults && parseDefault(question)?.ok === true);
}
