/** A store, as runs record it and workers compare it. */
export interface StoreIdentity {
  /** Made once, at the first use of the store. A copy of a store has the same. */
  readonly id: string;
  /** Place in words for people, such as `"/srv/planwave" on host-a`. Without secrets. */
  readonly place: string;
  /** Ids of stores that were copied into it: it has their runs too. Absent when there are none. */
  readonly copied?: readonly string[];
}
