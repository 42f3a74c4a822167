import { z } from 'zod';
import type { Ref } from './ref.ts';

const QuestionVerdict = z.strictObject({
  question: z.number().int().min(1).describe('The number of the question in the request.'),
  verdict: z
    .enum(['answered', 'assumed', 'needs_user_input'])
    .describe(
      '"answered": what the run knows settles it. "assumed": nothing settles it, it is not critical, and a careful assumption does no harm. "needs_user_input": only the user can settle it.',
    ),
  answer: z
    .string()
    .max(2_000)
    .nullable()
    .describe('What the agent gets, in its expected_answer_format; null with needs_user_input.'),
  source_refs: z
    .array(z.string().max(200))
    .max(20)
    .describe('What the answer is taken from. At least one with "answered", else usually empty.'),
  reason: z.string().min(1).max(1_000).describe('Why, in a sentence or two.'),
});

/** The planner's answer when it reviews agents' questions before the user sees them (seed 004 §2.1 and §10). */
export const QuestionReview = z.strictObject({
  reviews: z.array(QuestionVerdict).max(20).describe('Exactly one for each question.'),
});
export type QuestionReview = z.infer<typeof QuestionReview>;

export interface QuestionReviewOutline extends QuestionReview {
  /** The whole QuestionReview as JSON. */
  readonly review_ref: Ref;
}

/** The planner's verdict on one question. */
export type PlannerVerdict = Readonly<Omit<z.infer<typeof QuestionVerdict>, 'question'>>;
