/** One breach of a shape or a rule, worded for the model that has to repair it (seed 001: errors carry a hint). */
export interface OutputFault {
  /** Path in the output: `coverage.criteria_met[0].evidence`. */
  readonly path: string;
  readonly reason: string;
  /** Advice that begins with "Try: ". */
  readonly hint: string;
}
