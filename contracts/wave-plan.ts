import { z } from 'zod';
import { AskedQuestion } from './question.ts';
import type { Ref } from './ref.ts';
import { Delegation, ReadDelegation, WrittenDelegation } from './delegation.ts';
import type { DelegationOutline } from './delegation.ts';
import { StatedFact } from './agent-output.ts';
import { CriteriaByAnswers } from './criterion.ts';
import { StoredDelegationId } from './agent-definition.ts';

/** The planner's answer when it plans a wave, as written. */
export const WrittenPlan = z.strictObject({
  summary: z.string().min(1).max(2_000).describe('What this wave is to achieve, and why this way.'),
  delegations: z
    .array(WrittenDelegation)
    .describe(
      'Empty only when needs_user_input is true, or when no criterion is open and nothing is left to do.',
    ),
  needs_user_input: z.boolean().describe('True only for critical open questions.'),
  user_questions: z.array(AskedQuestion).max(10).describe('Empty unless needs_user_input is true.'),
  ...CriteriaByAnswers.shape,
});
export type WrittenPlan = z.infer<typeof WrittenPlan>;

/** Reads a plan that a planner wrote: each executor becomes one union here, and nowhere else. */
export const WavePlan = WrittenPlan.extend({ delegations: z.array(ReadDelegation) });
export type WavePlan = z.infer<typeof WavePlan>;

/** Room for the inputs of the last task of a team that works in sequence: 49 other results, 20 named ones, the goal. */
const storedInputs = z.array(z.string().min(1).max(200)).max(100);

/**
 * A stored plan, of a planner or of the tasks that a team's leader created. Task ids contain dots, which a planner may
 * not write, and name their results as inputs.
 */
export const StoredPlan: z.ZodType<WavePlan> = WrittenPlan.extend({
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

/** The planner's decision (seed 004 §7). */
export const PlannerDecision = z.strictObject({
  io_status: z.enum(['OK', 'NOT_OK']).describe('OK only when no criterion is open.'),
  not_ok_reasons: z.array(z.string().min(1).max(1_000)).max(50),
  conflicts_resolved: z
    .array(
      z.strictObject({
        conflict: z.string().max(1_000),
        resolution: z.string().max(1_000),
        origin: z.string().max(200).describe('Whose statement won. "" with keys_apart.'),
        superseded: z.string().max(200).describe('Whose statement lost. "" with keys_apart.'),
        keys_apart: z
          .array(z.strictObject({ source: z.string().max(200), key: z.string().min(1).max(80) }))
          .max(20)
          .optional()
          .describe(
            'Only where all sides hold, because each is about another subject: every source of the conflict, with a key that names its subject.',
          ),
      }),
    )
    .max(50),
  next_actions: z.array(z.string().min(1).max(1_000)).max(50),
});
export type PlannerDecision = z.infer<typeof PlannerDecision>;

/** The answer for the user: one of the run's results, a file that it wrote, or a short text. */
export const NamedAnswer = z.strictObject({
  kind: z.enum(['delegation', 'file', 'text']),
  value: z
    .string()
    .min(1)
    .max(8_000)
    .describe(
      'delegation: the delegation_id whose detailed_md is the answer, word for word. file: the path of a file in effects_confirmed; of several, one path a line. text: the answer itself in Markdown, where it is short.',
    ),
});
export type NamedAnswer = z.infer<typeof NamedAnswer>;

/** The planner's answer when it decides on the results of a wave. */
export const WaveDecision = z.strictObject({
  wave_compact: z
    .string()
    .min(1)
    .describe('Markdown. The short truth after this wave: what is known, decided and open.'),
  wave_detailed: z.string().min(1).describe('Markdown. The reasons, so that others can follow.'),
  planner_decision: PlannerDecision,
  answer: NamedAnswer.nullable().describe(
    'What the user gets. Never null with io_status "OK"; null while nothing would be of use to the user.',
  ),
  facts: z
    .array(StatedFact)
    .max(20)
    .describe(
      'What wave_compact settles, each key once: it stands above what agents say. May be empty.',
    ),
  criteria_reopened: z
    .array(z.strictObject({ criterion_id: z.string(), reason: z.string().min(1).max(1_000) }))
    .max(50)
    .describe('Criteria an agent claimed as met although the evidence does not carry it.'),
  needs_user_input: z.boolean().describe('True only for critical open questions.'),
  user_questions: z.array(AskedQuestion).max(10).describe('Empty unless needs_user_input is true.'),
  ...CriteriaByAnswers.shape,
});
export type WaveDecision = z.infer<typeof WaveDecision>;

export interface WaveDecisionOutline extends Omit<
  WaveDecision,
  'wave_compact' | 'wave_detailed' | 'answer' | 'facts'
> {
  /** True when it names an answer. The answer itself stays in the store, because it may be a text. */
  readonly has_answer: boolean;
  /** The whole WaveDecision as JSON. */
  readonly decision_ref: Ref;
}
