/** Upper bounds for the size of a team's and a triad's records in a payload. `check-limits.ts` proves that they fit. */

/** Upper bound of UTF-8 bytes for one UTF-16 code unit. */
export const bytesPerCharMax = 3;

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
export type TeamLimits = Readonly<
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

/** One dispute as JSON: slugs, four references, two positions. */
const dissentBytesMax = 800;

/** Three members with their models, two attempts at each of three phases, and the fields around them, as JSON. */
const triadFrameBytesMax = 3_600;

/** Sizes in a triad's spec as JSON: slugs, references and the fields around them. */
const sectionBytesMax = 250;
const claimBytesMax = 600;
const responseBytesMax = 200;

/** A record of a turn, and one that is returned to its member because it was outdated, as JSON. */
const recordBytesMax = 450;
const returnedBytesMax = 500;

/** The limits of `engineLimits` that bound a triad. */
export type TriadLimits = Readonly<
  Record<
    | 'triadTextCharsMax'
    | 'dissentCarriedMax'
    | 'sectionsMax'
    | 'roundsMax'
    | 'turnRecordsMax'
    | 'stateAnswersCharsMax',
    number
  >
>;

/** Returns the most bytes that an outcome needs for its triad, as JSON. */
export function triadBytesMax(engine: TriadLimits): number {
  const texts = 2 * engine.triadTextCharsMax * bytesPerCharMax;
  return triadFrameBytesMax + texts + engine.dissentCarriedMax * dissentBytesMax;
}

/** Returns the most bytes of a triad's spec, as JSON. */
export function specBytesMax({ sectionsMax, roundsMax }: TriadLimits): number {
  // Three claims on each section with two answers a round, or two with three.
  const answers = 6 * roundsMax * responseBytesMax;
  return sectionsMax * (sectionBytesMax + 3 * claimBytesMax + answers);
}

/**
 * Returns the most bytes that a phase of a triad returns, as JSON: its spec, and for each of three turns the spec
 * before and after it, its records, those that were returned, and the results of its last calls, the last of them the
 * whole spec.
 */
export function phaseBytesMax(engine: TriadLimits): number {
  const { turnRecordsMax, stateAnswersCharsMax } = engine;
  const records = turnRecordsMax * (recordBytesMax + returnedBytesMax);
  const spec = specBytesMax(engine);
  return spec + 3 * (3 * spec + records + stateAnswersCharsMax);
}
