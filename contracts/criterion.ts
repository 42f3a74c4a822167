/** Where an acceptance criterion stands in the run. */
export interface CriterionState {
  readonly criterion_id: string;
  /** `waived`: the user gave it up. */
  readonly state: 'open' | 'met' | 'waived';
  /** The delegation that last spoke on it, or null. */
  readonly delegation_id: string | null;
}
