/** Checks the limits against each other. `limits.ts` defines them and runs this check when it is loaded. */
import type { RunLimits } from '../contracts/limits.ts';
import {
  bytesPerCharMax,
  carriedTeamBytesMax,
  phaseBytesMax,
  teamBytesMax,
  triadBytesMax,
} from './record-sizes.ts';
import type { TeamLimits, TriadLimits } from './record-sizes.ts';

/** The limits of `engineLimits` that depend on others. */
type EngineLimits = TeamLimits &
  TriadLimits &
  Readonly<
    Record<
      | 'amendmentCharsMax'
      | 'amendmentsMax'
      | 'answerCharsMax'
      | 'detailIdCharsMax'
      | 'detailsBytesMax'
      | 'effectsMax'
      | 'escalationQuestionsMax'
      | 'exampleAnswerCharsMax'
      | 'factTextCharsMax'
      | 'factsCarriedMax'
      | 'historyEventsWarn'
      | 'inboxCharsMax'
      | 'inboxReserveChars'
      | 'inlineAnswerCharsMax'
      | 'loadedDetailsMax'
      | 'loopsCarriedMax'
      | 'notesMax'
      | 'noteTextCharsMax'
      | 'outputTokensCeiling'
      | 'outputTokensPerSecondMin'
      | 'pageAnswerCharsMax'
      | 'payloadBytesMax'
      | 'questionCharsMax'
      | 'questionsMax'
      | 'recentAnswersMax'
      | 'recordChangeCharsMax'
      | 'rejectedAnswersMax'
      | 'rejectedReasonCharsMax'
      | 'returnedAnswerCharsMax'
      | 'sameQuestionMax'
      | 'shownAnswerCharsMax'
      | 'shownArgumentsCharsMax'
      | 'staleShownMax'
      | 'truncationsMax'
      | 'verdictTextCharsMax',
      number
    >
  >;
type TriadTimes = Readonly<
  Record<'turn_seconds' | 'dispatch_seconds' | 'round_seconds' | 'phase_seconds', number>
>;
type TeamTimes = Readonly<Record<'timeout' | 'member_timeout', number>>;

/** Characters of a question_id that a person was told of (`notified`), with quotes and comma. */
const questionIdCharsMax = 10;

/** Characters of a delegation_id, with its quotes. */
const delegationIdCharsMax = 43;

/**
 * An effect_id, the longest target, and two more references or the end of a command, which take one byte a character.
 */
const carriedEffectCharsMax = 355;

/** Fields and quotes around one answer or rejection in JSON, in characters. */
const jsonOverheadChars = 300;

/** A relation between limits: whether it holds, and the sentence that states it. */
type Relation = readonly [holds: boolean, statement: string];

function listBroken(relations: readonly Relation[]): string[] {
  return relations.filter(([holds]) => !holds).map(([, statement]) => statement);
}

/** Returns the most characters that a topmost workflow carries over continue-as-new. */
function carriedCharsMax(engine: EngineLimits): number {
  return (
    engine.inboxCharsMax +
    engine.inboxReserveChars +
    engine.escalationQuestionsMax * engine.inlineAnswerCharsMax +
    engine.amendmentsMax * engine.amendmentCharsMax +
    engine.questionsMax *
      (engine.shownAnswerCharsMax + jsonOverheadChars / 2 + questionIdCharsMax) +
    engine.rejectedAnswersMax *
      (engine.rejectedReasonCharsMax + engine.exampleAnswerCharsMax + jsonOverheadChars) +
    engine.recentAnswersMax *
      (engine.questionCharsMax + engine.inlineAnswerCharsMax + jsonOverheadChars) +
    engine.factsCarriedMax * (engine.factTextCharsMax + jsonOverheadChars) +
    engine.loopsCarriedMax * (engine.questionCharsMax + jsonOverheadChars) +
    engine.staleShownMax * delegationIdCharsMax
  );
}

/** @returns contradictions between the limits, one line each. Empty when they are consistent. */
export function findLimitFaults(engine: EngineLimits, run: RunLimits): string[] {
  return listBroken([
    ...[...Object.entries(engine), ...Object.entries(run)].map(([name, value]): Relation => [
      Number.isInteger(value) && value >= 1,
      `${name} must be a whole number of at least 1`,
    ]),
    [
      run.max_output_tokens * 2 ** engine.truncationsMax <= engine.outputTokensCeiling,
      'max_output_tokens, doubled truncationsMax times, must stay within outputTokensCeiling',
    ],
    [engine.sameQuestionMax >= 2, 'sameQuestionMax below 2 would refuse every question'],
    [
      engine.questionsMax >= engine.escalationQuestionsMax,
      'questionsMax must hold one escalation of escalationQuestionsMax',
    ],
    [
      carriedCharsMax(engine) * bytesPerCharMax <= engine.payloadBytesMax,
      'inboxCharsMax, amendments, answers, rejections, facts, loops and stale delegations together must fit into one payload',
    ],
    [
      engine.effectsMax * (carriedEffectCharsMax + jsonOverheadChars) * bytesPerCharMax <=
        engine.payloadBytesMax / 2,
      'effectsMax effects of a delegation must fit into half a payload',
    ],
    // Description, context, resolution and reason.
    [
      engine.notesMax * (4 * engine.noteTextCharsMax + jsonOverheadChars) * bytesPerCharMax <=
        engine.payloadBytesMax / 4,
      'notesMax notes of noteTextCharsMax must fit into a quarter of a payload',
    ],
    [
      engine.shownArgumentsCharsMax < engine.questionCharsMax / 2,
      'shownArgumentsCharsMax must leave room for the rest of a question',
    ],
    [
      engine.verdictTextCharsMax < engine.questionCharsMax / 2,
      'verdictTextCharsMax must leave room for the rest of a question',
    ],
    [
      engine.detailsBytesMax * 4 <= engine.payloadBytesMax,
      'detailsBytesMax must be far below payloadBytesMax',
    ],
    [
      engine.recordChangeCharsMax * bytesPerCharMax <= engine.payloadBytesMax / 4,
      'recordChangeCharsMax must leave three quarters of a payload to the last change, which may be larger',
    ],
    [
      engine.inboxReserveChars >= 2 * engine.questionCharsMax + engine.inlineAnswerCharsMax,
      'inboxReserveChars must hold one question of the engine',
    ],
    ...relateAnswers(engine),
  ]);
}

function relateAnswers(engine: EngineLimits): readonly Relation[] {
  const { pageAnswerCharsMax: onPage, returnedAnswerCharsMax: returned } = engine;
  return [
    [
      engine.shownAnswerCharsMax <= engine.inlineAnswerCharsMax,
      'shownAnswerCharsMax must not exceed inlineAnswerCharsMax',
    ],
    [
      engine.inlineAnswerCharsMax < engine.answerCharsMax,
      'inlineAnswerCharsMax must be below answerCharsMax',
    ],
    [
      engine.answerCharsMax * bytesPerCharMax <= engine.payloadBytesMax / 2,
      'an answer of answerCharsMax must fit into half a payload',
    ],
    [
      onPage * bytesPerCharMax < (engine.detailsBytesMax * 3) / 4,
      'pageAnswerCharsMax must leave a quarter of detailsBytesMax to the rest of the page',
    ],
    [
      onPage <= returned && returned * bytesPerCharMax <= engine.payloadBytesMax / 4,
      'returnedAnswerCharsMax must hold pageAnswerCharsMax and fit into a quarter of a payload',
    ],
  ];
}

/**
 * Checks sizes and the lengths of histories. A delegation is done by a triad or by a team, never by both, so the larger of the two counts.
 *
 * @param run The largest limits that a run can have.
 */
export function findSizeFaults(
  engine: EngineLimits,
  run: Pick<RunLimits, 'max_delegations' | 'inline_events'>,
): string[] {
  const detailsBytes = engine.loadedDetailsMax * engine.detailIdCharsMax * bytesPerCharMax;
  const executorMax = Math.max(triadBytesMax(engine), teamBytesMax(engine));
  const effectsBytes =
    engine.effectsMax * (carriedEffectCharsMax + jsonOverheadChars) * bytesPerCharMax;
  const ownEventsMin = engine.historyEventsWarn / 2;
  const teamBytes = carriedTeamBytesMax(engine, executorMax) + effectsBytes;
  return listBroken([
    [
      run.inline_events <= ownEventsMin,
      `inline_events must leave half of historyEventsWarn (${ownEventsMin}) to the wave itself`,
    ],
    [
      detailsBytes * run.max_delegations <= engine.payloadBytesMax / 2,
      'loadedDetailsMax names of detailIdCharsMax, of every delegation of a wave, must fit into half a payload',
    ],
    [
      executorMax * run.max_delegations <= engine.payloadBytesMax / 4,
      'dissentCarriedMax and triadTextCharsMax, or teamMembersMax, teamExecutorCharsMax, teamNotesMax and teamNoteCharsMax, of every delegation of a wave, must fit into a quarter of a payload',
    ],
    [
      teamBytes <= (engine.payloadBytesMax * 19) / 20,
      'teamDelegationsMax tasks, refusalsKeptMax refused calls, teamReasonCharsMax of each and effectsMax effects must leave room for the rest of a team that continues as new',
    ],
    [
      phaseBytesMax(engine) <= (engine.payloadBytesMax * 3) / 4,
      'sectionsMax, roundsMax, turnRecordsMax and stateAnswersCharsMax must leave a quarter of a payload to the rest of a phase',
    ],
  ]);
}

/** @returns contradictions between the time limits of a triad, one line each. */
export function findTriadFaults(triad: TriadTimes): string[] {
  const { turn_seconds, dispatch_seconds, round_seconds, phase_seconds } = triad;
  const holdsRound =
    turn_seconds <= dispatch_seconds &&
    3 * turn_seconds <= round_seconds &&
    dispatch_seconds + turn_seconds <= round_seconds;
  return listBroken([
    [
      holdsRound,
      'round_seconds must hold three turns in a row, and a dispatch with the turn that reads it',
    ],
    [
      2 * (round_seconds + turn_seconds) <= phase_seconds,
      'phase_seconds must hold two rounds and two more turns',
    ],
  ]);
}

/**
 * @param team Seconds of work.
 * @returns contradictions between the time limits of a team, one line each.
 */
export function findTeamFaults(
  { timeout, member_timeout }: TeamTimes,
  engine: Pick<EngineLimits, 'outputTokensPerSecondMin'>,
  run: Pick<RunLimits, 'max_output_tokens'>,
): string[] {
  const callSeconds = run.max_output_tokens / engine.outputTokensPerSecondMin;
  return listBroken([
    [
      2 * callSeconds <= member_timeout,
      'member_timeout must hold two calls of max_output_tokens at outputTokensPerSecondMin, one that loads and one that writes',
    ],
    [
      2 * (callSeconds + member_timeout) <= timeout,
      "timeout must hold the leader's first and last call and two tasks one after the other",
    ],
  ]);
}
