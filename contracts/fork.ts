import { z } from 'zod';
import type { Usage } from './usage.ts';

/** Id of a run that planwave started, or that a schedule started: with the time after the schedule's id. */
const RunId = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,39}(?:-\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)?$/,
    'expected 1 to 40 lower-case letters, digits, "-" or "_", and for the run of a schedule its time. Try: "market-research"',
  );

/** Another run of the same store, to go on from: with everything that it had before one of its waves. */
export const ForkPoint = z.strictObject({
  run_id: RunId,
  /** The first wave that is done anew. */
  wave: z
    .int()
    .min(2, 'before wave 2 there is nothing to take over. Try: a new run, or a later wave'),
  /** Instruction that changes the rest of the work. */
  instruction: z.string().trim().min(1).max(4_000).optional(),
});
export type ForkPoint = z.infer<typeof ForkPoint>;

/** A fork before it is started: what it takes over, and what the other run paid for the rest. */
export interface ForkOffer {
  /** The typed input of the other run, or as much of it as its record has. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly reused: { readonly delegations: number; readonly usage: Usage };
  /** Use of the other run from the wave on; only a part when it has not ended. */
  readonly rest: { readonly delegations: number; readonly usage: Usage; readonly ended: boolean };
}
