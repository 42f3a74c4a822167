/** A store, as runs record it and workers compare it. */
export interface StoreIdentity {
  /** Made once, at the first use of the store. A copy of a store has the same. */
  readonly id: string;
  /** Place in words for people, such as `"/srv/planwave" on host-a`. Without secrets. */
  readonly place: string;
  /**
   * The home beside a database, which has the working copies of folders. In the identity that a run records: the home that it
   * needs. Absent where the home is the store, and in a run without a folder of the user's.
   */
  readonly home?: Pick<StoreIdentity, 'id' | 'place'>;
  /** Ids of stores that were copied into it: it has their runs too. Absent when there are none. */
  readonly copied?: readonly string[];
}
