import { z } from 'zod';

/** Message to a person about a run: it needs one, or it has ended. */
export const Notification = z.strictObject({
  /** The same for each attempt at one event, and for no other event. */
  id: z.string().regex(/^msg_[0-9a-f]{16}$/),
  kind: z.enum(['needs_user', 'ended', 'test']),
  run_id: z.string(),
  /** Phase of the run, as in the search attribute `PlanwavePhase`. */
  phase: z.string(),
  /** Title of the goal. */
  goal: z.string(),
  /** The first wait in one line; empty for a run that has ended. */
  text: z.string(),
  open_questions: z.int(),
  /** Cost of finished waves, in millionths of a dollar. */
  cost_micro_usd: z.int(),
  /** Unix epoch seconds at which it happened. */
  at: z.int(),
});
export type Notification = z.infer<typeof Notification>;

/** The part of a run's notifications that it carries over continue-as-new. */
export interface NotifiedState {
  /** Number of notifications so far. */
  readonly count: number;
  /** question_ids that the person has been told of, or finds beside those. */
  readonly told: readonly string[];
  /** True when the person has been told that the run is parked. */
  readonly parked: boolean;
}
