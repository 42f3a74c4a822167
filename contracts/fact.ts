import { z } from 'zod';

/** A fact as an agent or the planner states it. Its key tells which other facts it can contradict. */
export const StatedFact = z.strictObject({
  key: z
    .string()
    .min(1)
    .max(80)
    .describe('What it is about, with its subject: "hosting price per month of Hetzner".'),
  value: z.string().min(1).max(200).describe('The value alone, with its unit: "49 EUR".'),
  statement: z.string().min(1).max(500).describe('A sentence that stands alone.'),
  confidence: z.enum(['low', 'medium', 'high']),
  settled_by: z.string().max(200).optional().describe('What shows that a former assumption holds.'),
});
export type StatedFact = z.infer<typeof StatedFact>;

/** A statement in the run's pool (seed 004 §9). The pool is append-only: nothing is changed but `superseded_by`. */
export interface Fact {
  /** `f1`, `f2`, … in the order of recording. */
  readonly fact_id: string;
  /** Normalised: facts with one key and different values contradict each other. Null for what was said in words only. */
  readonly key: string | null;
  /** As it was stated. Null exactly when `key` is. */
  readonly value: string | null;
  readonly statement: string;
  /**
   * Where it comes from, who said it first: `wave-001/<delegation_id>`, `turn-<n>` and the artifact of the output;
   * `wave-001/planner_decision` and its artifact; `q3` for an answer, and `amended-<time>` when it was changed; `user` for an
   * instruction, and `instruction-<number>` where it states a key. The last one is `settled_by`, where it was given.
   */
  readonly source_refs: readonly string[];
  readonly confidence: 'low' | 'medium' | 'high';
  readonly is_assumption: boolean;
  readonly origin: 'agent' | 'user' | 'planner';
  /** The fact that holds instead, or the decision that took it back. If null, the fact stands. */
  readonly superseded_by: string | null;
  /** Unix epoch seconds. */
  readonly recorded_at: number;
}

/** A fact on its way into the pool. Its key is still as it was stated. */
export type ProposedFact = Omit<Fact, 'fact_id' | 'superseded_by' | 'recorded_at'> &
  Pick<StatedFact, 'settled_by'>;

/** A fact as the user states it with an instruction: its key as everybody writes it, and its value. */
export interface UserFact {
  readonly key: string;
  readonly value: string;
}
