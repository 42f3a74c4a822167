/** Mode of a run that was to choose it, with the numbers that decided. */
export interface ModeChoice {
  readonly mode: 'direct' | 'designed';
  /** Such as `3 agents (directly: at most 2)`. */
  readonly reasons: readonly string[];
}
