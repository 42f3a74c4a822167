/**
 * Limits of each text in the file of a triad's phase, in characters. A cut text names the artifact that has the
 * whole. The spec is what a triad is about, so it gets the most; what was said on the way gets the least.
 */
export const phaseLimits = {
  /** About four pages of each section; twelve sections are a long read already. */
  sectionCharsMax: 10_000,
  /** Two pages of each claim, in the phase's file and in a minority report. */
  proposalCharsMax: 4_000,
  /** A reason of an answer has at most 2,000 characters. */
  reasonCharsMax: 2_000,
  /** The words of a member in one turn; their results are in the records. */
  saidCharsMax: 2_000,
  /** Compact output as the planner receives it. */
  compactCharsMax: 8_000,
  /** An entry of a summary is 2,000 characters at most; a reason, a lens or a failure is a few sentences. */
  lineCharsMax: 2_100,
} as const;

/**
 * Limits of each text in `result.md` and `report.md`, in characters, entries or bytes. A cut text names where the
 * whole is. People read them in one sitting, and a model may read one as one detail.
 */
export const resultLimits = {
  /** The answer is shown whole: this is at least nearly as much as a model can write in one reply. */
  answerCharsMax: 200_000,
  /** Maximum size in bytes, eight pages, of a file that is shown as the answer. Larger files are opened by people. */
  fileBytesMax: 20_000,
  /** Entries named by a line above the answer, and characters of each. */
  headEntriesMax: 3,
  headEntryCharsMax: 160,
  /** Limit of the goal. A longer one is material; the conversation summary has it whole. */
  goalCharsMax: 4_000,
  /** The planner is asked for a short summary; this is five pages. */
  waveCompactCharsMax: 12_000,
  /** About eight pages of each result when several stand in for the answer; each has a file of its own. */
  deliverableCharsMax: 20_000,
  /** Compact form of a result: two pages. */
  deliverableCompactCharsMax: 4_000,
  /** One question or assumption: a few sentences. */
  lineCharsMax: 600,
  /** Entries of one list. The other files hold the rest. */
  listEntriesMax: 100,
  /** Entries of one page of `pool.jsonl`, `questions.jsonl` and `effects.jsonl`. Each change writes the newest page. */
  pageEntriesMax: 50,
  /** Newest waves that the conversation summary tells of. Each wave has a folder of its own. */
  summaryWavesMax: 10,
} as const;

/**
 * Limits of each text in the file of a team, and in an output that the engine composes of its members' results, in
 * characters. What is cut names where the whole is. A team has up to fifty tasks, so each of them is told in short.
 */
export const teamLimits = {
  /** The message, about two pages. */
  messageCharsMax: 6_000,
  taskCharsMax: 2_000,
  /** Compact output as the leader received it. */
  compactCharsMax: 4_000,
  /** Last text of a reply that was cut off. */
  partialCharsMax: 2_000,
  /** A reason or a note: a few sentences. */
  lineCharsMax: 600,
  /** The result of a task, in the line that the planner reads. */
  shortCharsMax: 240,
} as const;
