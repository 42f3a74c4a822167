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

/** What a plan or a decision takes from answers of the user. Code checks that the user gave them. */
export const CriteriaByAnswers = z.strictObject({
  criteria_waived: byAnswer.describe('Open criteria that an answer of the user gives up.'),
  criteria_met_by_answer: byAnswer.describe('Open criteria that an answer of the user meets.'),
});
export type CriteriaByAnswers = z.infer<typeof CriteriaByAnswers>;

/** Where an acceptance criterion stands in the run. */
export interface CriterionState {
  readonly criterion_id: string;
  /** `waived`: the user gave it up. */
  readonly state: 'open' | 'met' | 'waived';
  /** The delegation that last spoke on it, or null. */
  readonly delegation_id: string | null;
  /** The question whose answer waived it or met it. Absent when no answer did. */
  readonly question_id?: string;
}
