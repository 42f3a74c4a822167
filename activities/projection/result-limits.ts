/**
 * How much of each text `result.md` and `report.md` hold, in characters, entries or bytes. What is cut names where the
 * whole is. People read them in one sitting, and a model may read one as one detail.
 */
export const resultLimits = {
  /** The answer is whole: as much as a model can write in one reply, or almost. */
  answerCharsMax: 200_000,
  /** A file that is the answer is shown up to this size, in bytes: eight pages. Beyond, people open the file. */
  fileBytesMax: 20_000,
  /** Entries that a line above the answer names, and characters of each. */
  headEntriesMax: 3,
  headEntryCharsMax: 160,
  /** A goal longer than this is material; the conversation summary has it whole. */
  goalCharsMax: 4_000,
  /** The planner is asked for a short truth; this is five pages. */
  waveCompactCharsMax: 12_000,
  /** About eight pages of each result, where several stand in for the answer; each has a file of its own. */
  deliverableCharsMax: 20_000,
  /** A result in short: two pages. */
  deliverableCompactCharsMax: 4_000,
  /** One question or assumption: a few sentences. */
  lineCharsMax: 600,
  /** Entries of one list. The files beside it hold the rest. */
  listEntriesMax: 100,
} as const;
