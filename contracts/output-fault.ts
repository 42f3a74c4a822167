/** One breach of a shape or a rule, worded for the model that has to mend it (seed 001: errors carry a hint). */
export interface OutputFault {
  /** Path in the output: `coverage.criteria_met[0].evidence`. */
  readonly path: string;
  readonly reason: string;
  /** What to do, beginning with "Try: ". */
  readonly hint: string;
}
