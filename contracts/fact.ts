import { z } from 'zod';

/** A fact stated by an agent or the planner. Its key determines which other facts it can contradict. */
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

/** A statement in the run's pool (seed 004 §9). The pool is append-only: only `superseded_by` changes. */
export interface Fact {
  /** `f1`, `f2`, … in the order of recording. */
  readonly fact_id: string;
  /** Normalised: facts with one key and different values contradict each other. Null for a statement in words only. */
  readonly key: string | null;
  /** The value as stated. Null exactly when `key` is. */
  readonly value: string | null;
  readonly statement: string;
  /**
   * Sources of the fact, its author first: `wave-001/<delegation_id>`, `turn-<n>` and the artifact of the output;
   * `wave-001/planner_decision` and its artifact; `q3` for an answer, and `amended-<time>` when it was changed; `user`
   * for an instruction, and `instruction-<number>` where it states a key. The last one is `settled_by`, if it was
   * given.
   */
  readonly source_refs: readonly string[];
  readonly confidence: 'low' | 'medium' | 'high';
  readonly is_assumption: boolean;
  readonly origin: 'agent' | 'user' | 'planner';
  /** The fact that holds instead, or the decision that retracted it. If null, the fact stands. */
  readonly superseded_by: string | null;
  /** Unix epoch seconds. */
  readonly recorded_at: number;
}

/** A fact on its way into the pool. Its key is not normalised yet. */
export type ProposedFact = Omit<Fact, 'fact_id' | 'superseded_by' | 'recorded_at'> &
  Pick<StatedFact, 'settled_by'>;

/** A fact that the user states with an instruction: its key as typed, and its value. */
export interface UserFact {
  readonly key: string;
  readonly value: string;
}
