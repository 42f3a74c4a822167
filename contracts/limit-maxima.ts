/**
 * Largest values that a user may set. `core/check-limits.ts` proves that everything carried between workflows fits into one
 * payload with them. Beyond them: a run of 1,000 waves works for weeks, the server runs 200 activities of a run at once,
 * a conversation is compacted long before its 10,000th call, the server warns of a history of 10,240
 * events, and refuses the 10,001st signal to an execution.
 */
export const limitMaxima = {
  max_waves: 1_000,
  max_parallel: 200,
  max_delegations: 50,
  max_turns: 10_000,
  inline_events: 5_000,
  max_signals: 9_000,
  max_output_tokens: 100_000,
} as const;
