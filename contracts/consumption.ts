/** Facts, answers and decision in the packets of all delegations of a wave. */
export interface ShownToWave {
  /** Assumptions that stood. */
  readonly fact_ids: readonly string[];
  /** Questions that were answered. */
  readonly question_ids: readonly string[];
  /** Source of the wave_compact: `wave-001/planner_decision`. Null before the first decision. */
  readonly decision: string | null;
}

/** An output of another delegation that a delegation received. */
export interface ConsumedInput {
  /** The name under which it was received: a delegation_id, or a name that the delegation produces. */
  readonly name: string;
  /** Source of the output: `wave-001/<delegation_id>`. */
  readonly source: string;
}

/** Basis of a completed delegation, besides what its wave was shown. */
export interface Consumption {
  readonly delegation_id: string;
  readonly wave: number;
  /** Its own questions that were answered. */
  readonly question_ids: readonly string[];
  /** Outputs that it depended on, required or loaded. */
  readonly inputs: readonly ConsumedInput[];
}

/** A completed delegation whose basis has changed. */
export interface StaleDelegation {
  readonly delegation_id: string;
  readonly wave: number;
  /** The first reasons that were found, at most `staleReasonsMax` of `core/limits.ts`. */
  readonly reasons: readonly string[];
  /** The delegation that redid it. Null while none has. */
  readonly redone_by: string | null;
}
