/** What the packets of a wave showed to all its delegations. */
export interface ShownToWave {
  /** Assumptions that stood. */
  readonly fact_ids: readonly string[];
  /** Questions that were answered. */
  readonly question_ids: readonly string[];
  /** Whose wave_compact they got: `wave-001/planner_decision`. Null before the first decision. */
  readonly decision: string | null;
}

/** An output of another delegation that one got. */
export interface ConsumedInput {
  /** The name under which it got it: a delegation_id, or what that delegation produces. */
  readonly name: string;
  /** Whose output it was: `wave-001/<delegation_id>`. */
  readonly source: string;
}

/** What a completed delegation built on, besides what its wave was shown. */
export interface Consumption {
  readonly delegation_id: string;
  readonly wave: number;
  /** Its own questions that were answered. */
  readonly question_ids: readonly string[];
  /** What it depended on, required or loaded. */
  readonly inputs: readonly ConsumedInput[];
}

/** A completed delegation whose output rests on something that does not hold any more. */
export interface StaleDelegation {
  readonly delegation_id: string;
  readonly wave: number;
  /** The first ones that were noticed, at most `staleReasonsMax` of `core/limits.ts`. */
  readonly reasons: readonly string[];
  /** The delegation that did it again. If null, nobody has. */
  readonly redone_by: string | null;
}
