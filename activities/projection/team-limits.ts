/**
 * How much of each text the file of a team holds, and an output that the engine puts together of what members brought, in
 * characters. What is cut names where the whole is. A team has up to fifty tasks, so each of them is told in short.
 */
export const teamLimits = {
  /** The message, about two pages. */
  messageCharsMax: 6_000,
  /** What one member was asked. */
  taskCharsMax: 2_000,
  /** An output in short, as the leader got it. */
  compactCharsMax: 4_000,
  /** The last words of a reply that was cut off. */
  partialCharsMax: 2_000,
  /** A reason or a note: a few sentences. */
  lineCharsMax: 600,
  /** What came of a task, in the line that the planner reads. */
  shortCharsMax: 240,
} as const;
