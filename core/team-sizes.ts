/** Upper bounds for the size of a team's records in a payload. `limits.ts` proves that they fit. */

/** Upper bound of UTF-8 bytes for one UTF-16 code unit. */
const bytesPerCharMax = 3;

/** A usage as JSON, for ten thousand million tokens of each kind. */
const usageBytesMax = 200;

/** Size as JSON: slugs, counts, a reference and the fields around them. */
const teamFrameBytesMax = 400;
const leaderBytesMax = 80 + usageBytesMax;
const memberBytesMax = 100 + usageBytesMax;

/** Quotes and comma around a text in a list. */
const quotesBytes = 3;

/** The longest delegation_id, a task of the innermost team, and the quotes around it. */
const taskIdBytesMax = 166;

/**
 * Sizes in a report as JSON: a title, ids, references, usage and the fields around them; a member's ids and
 * capabilities.
 */
const taskBytesMax = 1_300;
const seatBytesMax = 7_600;
const reportFrameBytesMax = 32_000;

/** The unknown member's name as the leader wrote it, and the fields around it. */
const refusalBytesMax = 420;

/** The limits of `engineLimits` that bound the records of a team. */
type TeamLimits = Readonly<
  Record<
    | 'teamMembersMax'
    | 'teamDelegationsMax'
    | 'teamExecutorCharsMax'
    | 'teamNotesMax'
    | 'teamNoteCharsMax'
    | 'teamReasonCharsMax'
    | 'refusalsKeptMax',
    number
  >
>;

/** Returns the most bytes that an outcome needs for its team, as JSON. */
export function teamBytesMax(engine: TeamLimits): number {
  const { teamMembersMax, teamExecutorCharsMax, teamNotesMax, teamNoteCharsMax } = engine;
  // Executors consist of slugs: one byte each, except for the sign that they were cut.
  const members = teamMembersMax * (memberBytesMax + teamExecutorCharsMax + bytesPerCharMax);
  const notes = teamNotesMax * (teamNoteCharsMax * bytesPerCharMax + quotesBytes);
  return teamFrameBytesMax + leaderBytesMax + members + notes;
}

/**
 * Returns the most bytes that a team carries over continue-as-new, as JSON: its report so far, the state of each task,
 * and the results that its leader has not received yet.
 */
export function carriedTeamBytesMax(engine: TeamLimits, executorBytesMax: number): number {
  return reportBytesMax(engine, executorBytesMax) + 2 * engine.teamDelegationsMax * taskBytesMax;
}

/**
 * Returns the most bytes of a report as JSON, on its way to the activity that stores it.
 *
 * @param executorBytesMax Bytes of the outcome of a triad or a team that did a task.
 */
export function reportBytesMax(engine: TeamLimits, executorBytesMax: number): number {
  const { teamMembersMax, teamDelegationsMax, refusalsKeptMax } = engine;
  const reason = engine.teamReasonCharsMax * bytesPerCharMax + quotesBytes;
  const inputs = teamDelegationsMax * taskIdBytesMax;
  const tasks = teamDelegationsMax * (taskBytesMax + inputs + reason + executorBytesMax);
  const refused = refusalsKeptMax * (refusalBytesMax + reason);
  const notes = refusalsKeptMax * reason;
  return reportFrameBytesMax + teamMembersMax * seatBytesMax + tasks + refused + notes + reason;
}
