import { z } from 'zod';
import { CriteriaByAnswers } from './criterion.ts';
import { Delegation } from './delegation.ts';
import type { DelegationOutline } from './delegation.ts';
import { AskedQuestion } from './question.ts';
import type { Ref } from './ref.ts';
import { StoredDelegationId } from './slug.ts';

/** The planner's answer when it plans a wave. */
export const WavePlan = z.strictObject({
  summary: z.string().min(1).max(2_000).describe('What this wave is to achieve, and why this way.'),
  delegations: z
    .array(Delegation)
    .describe(
      'Empty only when needs_user_input is true, or when no criterion is open and nothing is left to do.',
    ),
  needs_user_input: z.boolean().describe('True only for critical open questions.'),
  user_questions: z.array(AskedQuestion).max(10).describe('Empty unless needs_user_input is true.'),
  ...CriteriaByAnswers.shape,
});
export type WavePlan = z.infer<typeof WavePlan>;

/** Room for the inputs of the last task of a team that works in sequence: 49 other results, 20 named ones, the goal. */
const storedInputs = z.array(z.string().min(1).max(200)).max(100);

/**
 * A stored plan, of a planner or of the tasks that a team's leader created. Task ids contain dots, which a planner may
 * not write, and name their results as inputs.
 */
export const StoredPlan: z.ZodType<WavePlan> = WavePlan.extend({
  delegations: z.array(
    Delegation.extend({
      delegation_id: StoredDelegationId,
      required_inputs: storedInputs,
      provided_inputs: storedInputs,
      depends_on: z.array(StoredDelegationId).max(50),
    }),
  ),
});

export interface WavePlanOutline extends CriteriaByAnswers {
  readonly plan_ref: Ref;
  readonly summary: string;
  readonly delegations: readonly DelegationOutline[];
  readonly needs_user_input: boolean;
  readonly user_questions: readonly AskedQuestion[];
}
