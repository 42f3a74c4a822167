/** A statement in the run's pool (seed 004 §9). The pool is append-only: nothing is changed but `superseded_by`. */
export interface Fact {
  /** `f1`, `f2`, … in the order of recording. */
  readonly fact_id: string;
  readonly statement: string;
  /** Where it comes from: `wave-001/<delegation_id>`, `q3` for an answer, `user` for an instruction. */
  readonly source_refs: readonly string[];
  readonly confidence: 'low' | 'medium' | 'high';
  readonly is_assumption: boolean;
  readonly origin: 'agent' | 'user' | 'planner';
  readonly superseded_by: string | null;
  /** Unix epoch seconds. */
  readonly recorded_at: number;
}
