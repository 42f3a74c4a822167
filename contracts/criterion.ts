import { z } from 'zod';

const byAnswer = z
  .array(
    z.strictObject({
      criterion_id: z.string(),
      question_id: z.string().describe('A question that the user answered.'),
    }),
  )
  .max(20)
  .optional();

/** Criteria that a plan or a decision settles by answers of the user. Code checks that the user gave them. */
export const CriteriaByAnswers = z.strictObject({
  criteria_waived: byAnswer.describe('Open criteria that an answer of the user gives up.'),
  criteria_met_by_answer: byAnswer.describe('Open criteria that an answer of the user meets.'),
});
export type CriteriaByAnswers = z.infer<typeof CriteriaByAnswers>;

/** State of an acceptance criterion in the run. */
export interface CriterionState {
  readonly criterion_id: string;
  /** `waived`: the user no longer requires it. */
  readonly state: 'open' | 'met' | 'waived';
  /** The delegation that last reported on it, or null. */
  readonly delegation_id: string | null;
  /** The question whose answer waived or met it. Absent when no answer did. */
  readonly question_id?: string;
}
