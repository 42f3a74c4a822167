/**
 * All limits of the engine. Each has its unit in its name and its reason beside it.
 *
 * Invariants:
 *   L1. The limits are consistent; loading this file throws, naming the pair, when they are not.
 *   L2. A resolved limit is the user's if there is one, otherwise the default; output tokens never exceed the ceiling.
 */
import { limitMaxima } from '../contracts/limit-maxima.ts';
import type { LimitsInput, RunLimits } from '../contracts/limits.ts';
import {
  findLimitFaults,
  findSizeFaults,
  findTeamFaults,
  findTriadFaults,
} from './check-limits.ts';

/** Limits of a run whose input sets none. */
export const defaultLimits: RunLimits = {
  max_waves: 5,
  max_parallel: 4,
  max_delegations: 50,
  max_turns: 40,
  /** Some 240 model calls. A worker replays them in about 2 s of processor time, see `historyEventsMax`. */
  inline_events: 1_500,
  /** The server refuses signals after 10,000, those of children too. The rest is for the end of the wave. */
  max_signals: 8_000,
  max_output_tokens: 16_000,
};

/** Limits of a triad whose plan sets none. Seconds of work: waiting for the user does not count. */
export const defaultTriad = {
  /** Rounds of one phase. Members that do not agree after three rounds have nothing new to say. */
  rounds_max: 3,
  /** One turn: a model call takes 20 minutes at most, and a turn has few of them. */
  turn_seconds: 1_800,
  /** Turns given out together, until the slowest ends: one turn, with room for a repeated one. */
  dispatch_seconds: 2_700,
  /** One round: three turns, one after the other. */
  round_seconds: 5_400,
  /** One phase: two whole rounds and the writer's last turns, each at its slowest. */
  phase_seconds: 14_400,
} as const;

/** Limits of a team that sets none (seed 002). Seconds of work: waiting for the user does not count. */
export const defaultTeam = {
  max_parallel: 3,
  max_delegations: 10,
  /** The leader's first and last call, and two tasks one after the other. */
  timeout: 1_200,
  /** Two calls: one that loads what the task builds on, and one that writes the most a call may. */
  member_timeout: 400,
  /** The seed names no number. After two failures the leader decides what to do. */
  max_retries: 1,
} as const;

export const engineLimits = {
  /** Total attempts at one valid output. A third repair of the same reply has never helped. */
  outputRepairsMax: 3,
  /** Total attempts at one valid plan or decision, before the user is asked. */
  planAttemptsMax: 3,
  /** Failed verifications of one task before the user is asked (seed 003, "Verification Workflow"). */
  verificationsMax: 5,
  /** Attempts at a task of a designed plan that break off without an outcome (seed 003, Issue 5). */
  crashAttemptsMax: 3,
  /** Conversations of a verifier without a valid verdict, before the user is asked. */
  verifierAttemptsMax: 2,
  /** Batches of questions in one stage of a design. What is open after six is better shown in a plan. */
  designQuestionRoundsMax: 6,
  /** Times that the findings on a plan go back to its designer. A fourth repair is the user's decision. */
  designRepairsMax: 3,
  /** Changes of a plan that the user may ask for. They bound the history of a design, which never continues as new. */
  planChangesMax: 20,
  /** Repetitions of a cut-off reply, each with twice the tokens: 16,000 becomes 64,000. */
  truncationsMax: 2,
  /** Compactions of one conversation. A conversation that is still too long then will not fit. */
  compactionsMax: 2,
  /** Occurrences at which the same question for the same task is a loop: two answers did not help. */
  sameQuestionMax: 3,
  /** Dispatches of the same agent with the same task, inputs and criteria. Rewording ends with `max_waves`. */
  sameFingerprintMax: 2,
  /** Sections of a triad's spec. With more, three members lose sight of the whole. */
  sectionsMax: 12,
  /** Characters of a criterion that is built from a task, equal to the contract's limit for a written one. */
  criterionCharsMax: 1_000,
  /** Characters of one entry of a phase's summary that is built from its records, equal to the contract's limit. */
  summaryEntryCharsMax: 2_000,
  /** Rounds of one phase of a triad. */
  roundsMax: 5,
  /** Records of one turn of a triad's member: an answer to each of 36 claims, or some edits of each of 12 sections. */
  turnRecordsMax: 100,
  /** Characters of the replies to the state calls of one model reply, besides the texts in the store. */
  stateAnswersCharsMax: 100_000,
  /** Number of siblings with the same failure at which the rest of their wave is not started. */
  sameFailureMax: 3,
  /** Questions of one run that reach the user. An agent that asks more can't stop asking. */
  questionsMax: 500,
  /** Newest rejected answers that are kept: people look at their last attempts. */
  rejectedAnswersMax: 20,
  /** Rejected messages that the record lists. Later ones are only counted, so that a flood writes nothing. */
  rejectedAnswersRecordedMax: 200,
  /** Fewest and most revisions between whole records: a young run would store each twice; a worker reads and folds the rest. */
  snapshotRevisionsMin: 16,
  snapshotRevisionsMax: 256,
  /** Records that a worker keeps in memory: the newest of each run at work, and those that its prompts show. */
  recordsCachedMax: 32,
  /** Characters of the reason of a rejected answer. */
  rejectedReasonCharsMax: 1_000,
  /** Characters of the example beside a refusal, as JSON. A longer one hides the reason. */
  exampleAnswerCharsMax: 300,
  /** Instructions of the user that planning still has to follow. */
  amendmentsMax: 50,
  /** Characters of one instruction. Longer material belongs in the goal. */
  amendmentCharsMax: 4_000,
  /** Instructions with changed answers that one history judges: each costs an activity, even if it is refused. */
  amendsJudgedMax: 100,
  /** Notes of one session. An agent that notes more is unsure of its task. */
  notesMax: 40,
  noteTextCharsMax: 1_000,
  /** Pauses that one history obeys: each is an event of its own in the run and in all its children. */
  pausesMax: 200,
  /** Criteria that one `amend` can waive. */
  waivedCriteriaMax: 100,
  /** Answers that one `amend` can change, and their characters as JSON: 1.8 MB at worst, inside one payload. */
  amendedAnswersMax: 20,
  amendedAnswersCharsMax: 600_000,
  /** Answers and instructions that a wave sends to the delegations at work. A prompt shows the newest. */
  newsKeptMax: 200,
  /** Characters of a question that are sent with its answer: enough to recognise it. */
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
  /** Levels of nesting in a JSON answer. Deeper values overflow the stack of code that walks them. */
  answerDepthMax: 64,
  /** Characters of open questions and undelivered answers together, as JSON: they share one payload. */
  inboxCharsMax: 100_000,
  /** Room beyond `inboxCharsMax` for the engine's own questions: agents' questions can't take it. */
  inboxReserveChars: 20_000,
  /** Newest answers that the query `questions` shows. All are in the record. */
  recentAnswersMax: 25,
  /** Characters of a question's text. */
  questionCharsMax: 2_000,
  /** Questions of one escalation: the ten of an output's list, and room for the engine's own. */
  escalationQuestionsMax: 20,
  /** Seconds after the question in which an approval must be given and used: a weekend and a day. */
  approvalSecondsMax: 3 * 24 * 60 * 60,
  /** Characters of the arguments that an approval shows. The hash beside them covers all of them. */
  shownArgumentsCharsMax: 800,
  /** Changes outside of the run that one delegation may try. They are carried over continue-as-new. */
  effectsMax: 200,
  /** Bytes of a workspace's file that is read as a whole or searched: more is no text that a model works on. It is held in memory. */
  readFileBytesMax: 5_000_000,
  /** Bytes of a workspace's file of which lines are read. It passes through, in a second at most. */
  scannedFileBytesMax: 50_000_000,
  /** Bytes of a file that is kept before it is replaced. It is held in memory once. */
  keptFileBytesMax: 20_000_000,
  /** Contradictory changes of one wave that a decision is shown, and the files and delegations of each. */
  mergeConflictsMax: 10,
  /** Changed files that a run's last question and its report name. */
  changedFilesShownMax: 50,
  /** Characters of the patch in the run's last question: people read the whole with `planwave diff`. */
  patchShownCharsMax: 2_000,
  /** Files of a workspace that is copied for each delegation without being a git repository: more is hardly the folder that was meant. */
  copiedFilesMax: 20_000,
  /** Entries of one listing of a workspace's folder: some 100 pages of a model's context. */
  listedEntriesMax: 10_000,
  /** Matches of one search. Whoever finds more searches for too little. */
  searchMatchesMax: 1_000,
  /** Earlier attempts that the planner is shown. Older ones are part of the last decision. */
  triedShownMax: 100,
  /** Facts that a prompt shows. The whole pool is in the store. */
  factsShownMax: 100,
  /** Different details that one delegation may load. An agent that needs more than fifty is not choosing. */
  loadedDetailsMax: 50,
  /** Files of a delegation that its detail shows: 50 delegations of them stay below a quarter of a payload. */
  writtenFilesMax: 20,
  /** Characters of a detail_id: of a name that a delegation produces. */
  detailIdCharsMax: 120,
  /** Newest facts that the query `pool` shows. */
  factsCarriedMax: 50,
  /** Questions asked again and again that a run carries over unjudged: the first ones. */
  loopsCarriedMax: 8,
  /** Characters of a fact's key, of its value, and of the part of its statement that a query shows. */
  factTextCharsMax: 80 + 200 + 200,
  /** Conflicts that one decision has to resolve: with those that its own facts cause, they fit into its list of 50. */
  conflictsShownMax: 20,
  /** Sides of one conflict that a prompt shows. */
  conflictSidesShownMax: 8,
  /** Disputes that are sent with the outcome of a triad. The report of its last phase has all of them. */
  dissentCarriedMax: 6,
  /** Characters of a triad's reason, and of its failure's message, that are sent with its outcome. */
  triadTextCharsMax: 300,
  /** Members of a team. A leader that reads twenty descriptions does not choose better among more. */
  teamMembersMax: 20,
  /** Levels of nested teams, the outermost included. A fourth leader only passes on the words of the third. */
  teamDepthMax: 3,
  /** Tasks that a team and all nested teams may create in one history: a fifth of the events that the server takes. */
  teamTasksMax: 300,
  /**
   * Events that a delegation adds to its wave's history before it can leave it. An agent: one turn, with its call, two tools
   * and a question. A triad: three phases with one retry each. A team: its leader's turn, and ten turns for each task.
   */
  turnEvents: 15,
  triadEvents: 150,
  taskEvents: 100,
  /** Tasks that one leader may create, whatever its team sets. */
  teamDelegationsMax: 50,
  /** Seconds of work that a team may set for itself or for a task: 11 days, as for a triad's phase. */
  teamSecondsMax: 1_000_000,
  /** Further attempts at one task, whatever its team sets. */
  taskRetriesMax: 5,
  /** Consecutive failures or timeouts of one member's tasks at which the member gets no more tasks for a while. */
  breakerFailuresMax: 3,
  /** Refused calls of a leader that its report keeps. */
  refusalsKeptMax: 100,
  /** Newest refused calls that people see while the team works. */
  refusalsShownMax: 5,
  /** Notes that are sent with the outcome of a team, and characters of each. */
  teamNotesMax: 5,
  teamNoteCharsMax: 150,
  /** Characters of a member's executor that are sent with it: three agents of a triad, unless their names are long. */
  teamExecutorCharsMax: 72,
  /** Characters of a reason or a note in a team's report. */
  teamReasonCharsMax: 300,
  /** Characters of an answer that the workflow returns: eight pages. The whole answer is in `result.md`. */
  returnedAnswerCharsMax: 20_000,
  /** Characters of the answer in Temporal's current details: two pages, so that the rest of the page fits below it. */
  pageAnswerCharsMax: 4_000,
  /** Characters of a message, and of each text of an output, that the guardrail `size-limit` accepts. */
  guardedInputCharsMax: 20_000,
  guardedOutputCharsMax: 200_000,
  /** Characters of a message that a middleware has changed: equal to the limit of a delegation's task. */
  changedMessageCharsMax: 20_000,
  /** Characters of an output's text that a middleware has changed: twice what a model can write in one reply. */
  changedOutputCharsMax: 500_000,
  /** Characters of a reason or note of a middleware or guardrail: it stands in a question or a report. */
  verdictTextCharsMax: 600,
  /** Total attempts at a middleware that throws. A service that it asks may be away for a moment. */
  middlewareAttemptsMax: 3,
  /** Stale delegations that a planner chooses from in one wave. */
  staleShownMax: 100,
  /** Reasons why one delegation is stale. More would not change the planner's choice. */
  staleReasonsMax: 5,
  /** Faults that go back to the model at once. More would displace the task itself. */
  faultsShownMax: 60,
  /** Seconds until the first reminder of a waiting question, and the longest time between two reminders: 7 days. */
  questionReminderSeconds: 7 * 24 * 60 * 60,
  /** Total attempts at one phase of a triad. A third attempt would not help where two have failed. */
  phaseAttemptsMax: 2,
  /** Slowest speed of a model, in output tokens per second: 16,000 take 200 s. A team's time limits are based on it. */
  outputTokensPerSecondMin: 80,
  /** Most output tokens of one call: every model of the product can write as many. */
  outputTokensCeiling: 64_000,
  /** Bytes of the Markdown in Temporal's current details: the Web UI loads it with each refresh. */
  detailsBytesMax: 20_000,
  /** Characters of a timeline label. The Web UI cuts it there. */
  labelCharsMax: 120,
  /** Changes of the record, and their characters as JSON, that one write takes: half a megabyte in any script. */
  recordChangesMax: 500,
  recordChangeCharsMax: 170_000,
  /** Events after which a workflow that can continue as new does so. The server suggests it at 4,096: too late (decision 10). */
  historyEventsMax: 1_000,
  /** Events and bytes of a history from which on people and the server warn: it ends a workflow at five times as many. */
  historyEventsWarn: 10_240,
  historyBytesWarn: 10 * 1_024 * 1_024,
  /** Bytes of one Temporal payload: the server refuses more. */
  payloadBytesMax: 2 * 1_024 * 1_024,
} as const;

const limitFaults = [
  ...findLimitFaults(engineLimits, defaultLimits),
  ...findSizeFaults(engineLimits, limitMaxima),
  ...findTriadFaults(defaultTriad),
  ...findTeamFaults(defaultTeam, engineLimits, defaultLimits),
];
if (limitFaults.length > 0) {
  throw new Error(`core/limits.ts contradicts itself: ${limitFaults.join('; ')}.`);
}

/** Fills missing limits in. Output tokens are lowered to the engine's ceiling, because no model accepts more. */
export function resolveLimits(input: LimitsInput | undefined): RunLimits {
  const limit = (name: keyof RunLimits): number => input?.[name] ?? defaultLimits[name];
  return {
    max_waves: limit('max_waves'),
    max_parallel: limit('max_parallel'),
    max_delegations: limit('max_delegations'),
    max_turns: limit('max_turns'),
    inline_events: limit('inline_events'),
    max_signals: limit('max_signals'),
    max_output_tokens: Math.min(limit('max_output_tokens'), engineLimits.outputTokensCeiling),
  };
}
