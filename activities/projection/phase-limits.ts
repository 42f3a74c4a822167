/**
 * How much of each text the file of a triad's phase holds, in characters. What is cut names the artifact that has the
 * whole. The spec is what a triad is about, so it gets the most; what was said on the way gets the least.
 */
export const phaseLimits = {
  /** About four pages of each section; twelve sections are a long read already. */
  sectionCharsMax: 10_000,
  /** Two pages of each claim, in the phase's file and in a minority report. */
  proposalCharsMax: 4_000,
  /** An answer's reason is 2,000 characters at most. */
  reasonCharsMax: 2_000,
  /** What a member said in one turn: what counts of it stands in the records. */
  saidCharsMax: 2_000,
  /** The output in short, as the planner gets it. */
  compactCharsMax: 8_000,
  /** An entry of a summary is 2,000 characters at most; a reason, a lens or a failure is a few sentences. */
  lineCharsMax: 2_100,
} as const;
