/** Sizes of a thread, and of the part that a leader is given. */
export const threadLimits = {
  /** Messages and answers passed to a leader: the newest ten exchanges (seed 002, phase 3). */
  messagesMax: 20,
  /** Characters of each: twenty of them are 10,000 tokens, less than one upstream result may be. */
  messageCharsMax: 2_000,
  /** Past delegations that the search finds for a new message. The sixth best has hardly helped anybody. */
  foundMax: 5,
  /** Newest delegations beside them: what a message means by "that" was done last. */
  newestMax: 5,
  /** Characters of a message or an answer that are kept: as long as a message may be typed. */
  keptCharsMax: 20_000,
  /** Characters of a delegation's task, stored and passed on. */
  taskCharsMax: 1_000,
  /** Characters of its result, stored and passed on. */
  resultCharsMax: 2_000,
} as const;
