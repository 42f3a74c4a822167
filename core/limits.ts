/**
 * Every limit of the engine, with its unit in its name and its reason beside it.
 *
 * Invariants:
 *   L1. The limits fit each other; loading this file throws, naming the pair, when they do not.
 *   L2. A resolved limit is the user's where there is one, else the default; output tokens never pass the ceiling.
 */
import type { LimitsInput, RunLimits } from '../contracts/limits.ts';
import { findLimitFaults, findTeamFaults, findTriadFaults } from './check-limits.ts';

/** What holds for a run when its input sets nothing else. */
export const defaultLimits: RunLimits = {
  max_waves: 5,
  max_parallel: 4,
  max_delegations: 50,
  max_turns: 40,
  max_output_tokens: 16_000,
};

/** What holds for a triad when its plan sets nothing else. Seconds of work: waiting for the user does not count. */
export const defaultTriad = {
  /** Rounds of one phase. Who does not agree after three has said what there is to say. */
  rounds_max: 3,
  /** A turn: a model call takes 20 minutes at most, and a turn is few of them. */
  turn_seconds: 1_800,
  /** Turns given out together, until the slowest is done: one turn, and room for one that is made again. */
  dispatch_seconds: 2_700,
  /** A round: three turns, one after the other. */
  round_seconds: 5_400,
  /** A phase: two whole rounds and the writer's last turns, each at its slowest. No phase that works takes so long. */
  phase_seconds: 14_400,
} as const;

/** What holds for a team when it sets nothing else (seed 002). Seconds of work: waiting for the user does not count. */
export const defaultTeam = {
  max_parallel: 3,
  max_delegations: 10,
  /** The leader's first and last call and two tasks, one after the other. */
  timeout: 1_200,
  /** Two calls: one that loads what the task builds on, and one that writes as much as a call may. */
  member_timeout: 400,
  /** The seed names none. A task that failed twice is for the leader to think about. */
  max_retries: 1,
} as const;

export const engineLimits = {
  /** Attempts in all at one valid output. A third repair of the same reply has not been seen to help. */
  outputRepairsMax: 3,
  /** Attempts in all at one valid plan or decision, before the user is asked. */
  planAttemptsMax: 3,
  /** How often a cut-off reply is asked for again with twice the tokens: 16,000 becomes 64,000. */
  truncationsMax: 2,
  /** How often a conversation is compacted. What does not fit then will not fit. */
  compactionsMax: 2,
  /** The time at which the same question for the same task is a loop: two answers did not help. */
  sameQuestionMax: 3,
  /** How often the same agent may be sent with the same task, inputs and criteria. Rewording ends with `max_waves`. */
  sameFingerprintMax: 2,
  /** Sections of a triad's spec. Three members that go through more lose sight of the whole. */
  sectionsMax: 12,
  /** Characters of a criterion that is made of a task, as many as the contract takes of one that somebody writes. */
  criterionCharsMax: 1_000,
  /** Characters of one entry of a phase's summary that is made of its records, as many as the contract takes. */
  summaryEntryCharsMax: 2_000,
  /** Rounds of one phase of a triad. */
  roundsMax: 5,
  /** Records of one turn of a triad's member: an answer to each of 36 claims, or some edits of each of 12 sections. */
  turnRecordsMax: 100,
  /** Characters that the state calls of one reply are told, beside the texts that stand in the store. */
  stateAnswersCharsMax: 100_000,
  /** The number of siblings that fail for the same reason at which the rest of their wave is not started. */
  sameFailureMax: 3,
  /** Questions of one run that reach the user. More is an agent that cannot stop asking. */
  questionsMax: 500,
  /** Rejected answers that are kept, newest first to stay: people look at their last attempts. */
  rejectedAnswersMax: 20,
  /** Characters of the reason of a rejected answer. */
  rejectedReasonCharsMax: 1_000,
  /** Characters of an example beside a refusal, as JSON. A longer one hides the reason. */
  exampleAnswerCharsMax: 300,
  /** Instructions of the user that planning still has to follow. */
  amendmentsMax: 50,
  /** Characters of one instruction. Longer material belongs into the goal. */
  amendmentCharsMax: 4_000,
  /** Criteria that one `amend` can give up. */
  waivedCriteriaMax: 100,
  /** Answers that one `amend` can change. */
  amendedAnswersMax: 20,
  /** Answers and instructions of a wave that travel to those at work. A prompt shows the newest; the record has all. */
  newsKeptMax: 200,
  /** Characters of a question that travel with its answer: enough to know which one it was. */
  newsQuestionCharsMax: 500,
  /** Facts that one `amend` can state: as many as an agent's output. */
  amendedFactsMax: 20,
  /** Characters of a fact's key and of its value. A longer value is a text, and texts are not compared. */
  factKeyCharsMax: 80,
  factValueCharsMax: 200,
  /** Characters of an answer that are kept in workflow state. Longer ones are stored as artifacts. */
  inlineAnswerCharsMax: 1_000,
  /** Characters of an answer that are kept to show which one was taken. */
  shownAnswerCharsMax: 200,
  /** Characters of one answer: 600 kB at worst, well inside one payload. */
  answerCharsMax: 200_000,
  /** Levels of nesting in a JSON answer. Deeper values overflow the stack of whoever walks them. */
  answerDepthMax: 64,
  /** Characters of open questions and undelivered answers together, as JSON: they travel in one payload. */
  inboxCharsMax: 100_000,
  /** Newest answers that the query `questions` shows. All are in the record. */
  recentAnswersMax: 25,
  /** Characters of a question's text. */
  questionCharsMax: 2_000,
  /** Questions of one escalation: the ten of an output's list, and room for the engine's own. */
  escalationQuestionsMax: 20,
  /** Seconds that an approval may take, and be used in, after the user was asked: a weekend and a day. */
  approvalSecondsMax: 3 * 24 * 60 * 60,
  /** Characters of the arguments that an approval shows. The hash beside them is of the whole. */
  shownArgumentsCharsMax: 800,
  /** Changes outside of the run that one delegation may try. They are carried over continue-as-new. */
  effectsMax: 200,
  /** Earlier attempts that the planner is shown. Older ones have become what the last decision says. */
  triedShownMax: 100,
  /** Facts that a prompt shows. The whole pool is in the store. */
  factsShownMax: 100,
  /** Different details that one delegation may load. Who needs more than fifty is not choosing. */
  loadedDetailsMax: 50,
  /** Files of a delegation that its detail shows: 50 delegations of them stay below a quarter of a payload. */
  writtenFilesMax: 20,
  /** Characters of a detail_id: of a name that a delegation produces. */
  detailIdCharsMax: 120,
  /** Newest facts that the query `pool` shows. */
  factsCarriedMax: 50,
  /** Characters of a fact's key, of its value, and of the part of its statement that a query shows. */
  factTextCharsMax: 80 + 200 + 200,
  /** Conflicts that one decision has to resolve: with those that its own facts begin, they fit into its list of 50. */
  conflictsShownMax: 20,
  /** Sides of one conflict that a prompt shows. */
  conflictSidesShownMax: 8,
  /** Disputes that travel with the outcome of a triad. All of them are in the report of its last phase. */
  dissentCarriedMax: 6,
  /** Characters of a triad's reason, and of its failure's message, that travel with its outcome. */
  triadTextCharsMax: 300,
  /** Members of a team. A leader that reads twenty descriptions chooses no better among more. */
  teamMembersMax: 20,
  /** Levels of teams in one another, the outermost included. A fourth leader only passes on what the third one said. */
  teamDepthMax: 3,
  /** Tasks that a team and all teams in it may give out in one history: some 10,000 events, a fifth of what a server takes. */
  teamTasksMax: 300,
  /** Tasks that one leader may give out, whatever its team sets. */
  teamDelegationsMax: 50,
  /** Seconds of work that a team may set for itself or for a task: 11 days, as for a triad's phase. */
  teamSecondsMax: 1_000_000,
  /** Further attempts at one task, whatever its team sets. */
  taskRetriesMax: 5,
  /** Tasks of one member that fail in a row, or run out of time, at which it gets no more of them for a while. */
  breakerFailuresMax: 3,
  /** Calls of a leader that were not carried out, as its report keeps them. */
  refusalsKeptMax: 100,
  /** The newest of them that people see while it works. */
  refusalsShownMax: 5,
  /** Notes that travel with the outcome of a team, and characters of each. */
  teamNotesMax: 5,
  teamNoteCharsMax: 150,
  /** Characters of a member's executor that travel with it: three agents of a triad, if their names are not long. */
  teamExecutorCharsMax: 72,
  /** Characters of a reason or a note, as a team's report keeps them. */
  teamReasonCharsMax: 300,
  /** Characters of an answer that come back from the workflow: eight pages. The whole is in `result.md`. */
  returnedAnswerCharsMax: 20_000,
  /** Characters of the answer in Temporal's current details: two pages, so that the rest of the page fits below it. */
  pageAnswerCharsMax: 4_000,
  /** Characters of a message, and of each text of an output, that the guardrail `size-limit` lets pass. */
  guardedInputCharsMax: 20_000,
  guardedOutputCharsMax: 200_000,
  /** Characters of a message that a middleware has changed: a delegation's task has no more. */
  changedMessageCharsMax: 20_000,
  /** Characters of an output's text that a middleware has changed: what a model can write in one reply, and twice that. */
  changedOutputCharsMax: 500_000,
  /** Characters of what a middleware or a guardrail says: its reason stands in a question, its note in a report. */
  verdictTextCharsMax: 600,
  /** Attempts in all at a middleware that throws. It may have asked a service that was away for a moment. */
  middlewareAttemptsMax: 3,
  /** Stale delegations that a planner chooses from in one wave. */
  staleShownMax: 100,
  /** Reasons why one delegation is stale. More change nothing for who chooses. */
  staleReasonsMax: 5,
  /** Faults that go back to the model at once. More would push out the task itself. */
  faultsShownMax: 60,
  /** Seconds until a question that waits is reminded of, and the longest time between two reminders: 7 days. */
  questionReminderSeconds: 7 * 24 * 60 * 60,
  /** Attempts in all at one phase of a triad. What a member could not do twice, a third time will not help. */
  phaseAttemptsMax: 2,
  /** Output tokens that a model writes in a second, at least: 16,000 take 200 s. Time limits of a team reckon with it. */
  outputTokensPerSecondMin: 80,
  /** Output tokens of one call, at most: what all models of the product can write. */
  outputTokensCeiling: 64_000,
  /** Bytes of the Markdown in Temporal's current details: the Web UI loads them with every refresh. */
  detailsBytesMax: 20_000,
  /** Characters of a timeline label. The Web UI cuts there. */
  labelCharsMax: 120,
  /** Bytes of one Temporal payload: the server refuses more. */
  payloadBytesMax: 2 * 1_024 * 1_024,
} as const;

const limitFaults = [
  ...findLimitFaults(engineLimits, defaultLimits),
  ...findTriadFaults(defaultTriad),
  ...findTeamFaults(defaultTeam, engineLimits, defaultLimits),
];
if (limitFaults.length > 0) {
  throw new Error(`core/limits.ts contradicts itself: ${limitFaults.join('; ')}.`);
}

/**
 * @param input What the user set. If undefined, every limit is the default.
 * Output tokens above the engine's ceiling are lowered to it, because no model would take them.
 */
export function resolveLimits(input: LimitsInput | undefined): RunLimits {
  return {
    max_waves: input?.max_waves ?? defaultLimits.max_waves,
    max_parallel: input?.max_parallel ?? defaultLimits.max_parallel,
    max_delegations: input?.max_delegations ?? defaultLimits.max_delegations,
    max_turns: input?.max_turns ?? defaultLimits.max_turns,
    max_output_tokens: Math.min(
      input?.max_output_tokens ?? defaultLimits.max_output_tokens,
      engineLimits.outputTokensCeiling,
    ),
  };
}
