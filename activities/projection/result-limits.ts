/**
 * How much of each text `result.md` holds, in characters or entries. What is cut names where the whole is.
 * People read the result in one sitting, and a model may read it as one detail.
 */
export const resultLimits = {
  /** A goal longer than this is material; the conversation summary has it whole. */
  goalCharsMax: 4_000,
  /** The planner is asked for a short truth; this is five pages. */
  waveCompactCharsMax: 12_000,
  /** About eight pages of each deliverable; each has a file of its own. */
  deliverableCharsMax: 20_000,
  /** One question or assumption: a few sentences. */
  lineCharsMax: 600,
  /** Entries of one list. The files beside it hold the rest. */
  listEntriesMax: 100,
} as const;
