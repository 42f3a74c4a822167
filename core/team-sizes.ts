/** What the records of a team take in a payload at most. `limits.ts` proves that it fits. */

/** UTF-8 needs at most 3 bytes for one UTF-16 code unit. */
const bytesPerCharMax = 3;

/** A usage as JSON, for ten thousand million tokens of each kind. */
const usageBytesMax = 200;

/** As JSON: slugs, counts, a reference and the fields around them. */
const teamFrameBytesMax = 400;
const leaderBytesMax = 80 + usageBytesMax;
const memberBytesMax = 100 + usageBytesMax;

/** Quotes and comma around a text in a list. */
const quotesBytes = 3;

/** The longest delegation_id, a task of the innermost team, and the quotes around it. */
const taskIdBytesMax = 166;

/** Of a report as JSON: a title, ids, references, usage and the fields around them; a member's ids and capabilities. */
const taskBytesMax = 1_300;
const seatBytesMax = 7_600;
const reportFrameBytesMax = 32_000;

/** What the leader called a member that it does not have, and the fields around it. */
const refusalBytesMax = 420;

/** Those of `engineLimits` that bound what travels of a team. */
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

/** Bytes that an outcome takes for its team at most, as JSON. */
export function teamBytesMax(engine: TeamLimits): number {
  const { teamMembersMax, teamExecutorCharsMax, teamNotesMax, teamNoteCharsMax } = engine;
  // Executors are made of slugs: one byte each, but for the sign that they were cut.
  const members = teamMembersMax * (memberBytesMax + teamExecutorCharsMax + bytesPerCharMax);
  const notes = teamNotesMax * (teamNoteCharsMax * bytesPerCharMax + quotesBytes);
  return teamFrameBytesMax + leaderBytesMax + members + notes;
}

/**
 * Bytes that a team takes at most over continue-as-new, as JSON: its report so far, each task as the rules know it, and the
 * results that its leader has not heard yet.
 */
export function carriedTeamBytesMax(engine: TeamLimits, executorBytesMax: number): number {
  return reportBytesMax(engine, executorBytesMax) + 2 * engine.teamDelegationsMax * taskBytesMax;
}

/**
 * Bytes that a report takes at most, as JSON, on its way to the activity that keeps it.
 *
 * @param executorBytesMax Of the outcome of a triad or a team that did a task.
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
