/** A store, as runs record it and workers compare it. */
export interface StoreIdentity {
  /** Made once, at the first use of the store. A copy of a store has the same. */
  readonly id: string;
  /** Place in words for people, such as `"/srv/planwave" on host-a`. Without secrets. */
  readonly place: string;
  /**
   * The home beside a database, which has the working copies of folders. In the identity that a run records: the home that it
   * needs, also where it is the store; absent in a run without a folder of the user's.
   */
  readonly home?: Pick<StoreIdentity, 'id' | 'place' | 'copied'>;
  /** Ids of stores that were copied into it: it has their runs too. Absent when there are none. */
  readonly copied?: readonly string[];
}

export interface Pruned {
  /** Ids of the removed runs, sorted. */
  readonly runs: readonly string[];
  /** Removed artifacts, entries of both ledgers, shared values, and entries of kept research. */
  readonly records: number;
  readonly bytes: number;
  /** The open run that began first, if it keeps files that are older than `endedBefore` allows; null without one. */
  readonly kept_by: string | null;
}

export interface HomeFault {
  /** File, artifact or run. */
  readonly where: string;
  /** The damage, and what is lost by it. */
  readonly what: string;
  readonly cure: string;
}

export interface CheckedHome {
  readonly runs: number;
  /** Artifacts, entries of both ledgers, and shared values. */
  readonly records: number;
  readonly bytes: number;
  readonly faults: readonly HomeFault[];
  /** Faults that were removed. */
  readonly repaired: readonly HomeFault[];
  /** Parts that could not be checked. Absent when all were. */
  readonly unchecked?: readonly HomeFault[];
}

/** Things of one kind: those that were copied, and those that the other store had already. */
export interface CopiedKind {
  readonly copied: number;
  readonly present: number;
}

/** Result of a copy from one store to another. */
export interface CopiedStores {
  readonly artifacts: CopiedKind;
  readonly replies: CopiedKind;
  readonly effects: CopiedKind;
  /** Runs, and research. */
  readonly names: CopiedKind;
  /** Values that workers change together, such as budgets of tenants. */
  readonly shared: CopiedKind;
  readonly threads: CopiedKind;
  /** Parts that could not be copied, and stay as they are in both stores. */
  readonly faults: readonly HomeFault[];
}
