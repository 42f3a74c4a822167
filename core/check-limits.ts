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
      | 'inboxCharsMax'
      | 'inboxReserveChars'
      | 'inlineAnswerCharsMax'
      | 'loadedDetailsMax'
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

/** @returns contradictions between the lengths of histories, one line each. */
export function findHistoryFaults(
  engine: { readonly historyEventsWarn: number },
  run: Pick<RunLimits, 'inline_events'>,
): string[] {
  const most = engine.historyEventsWarn / 2;
  return run.inline_events <= most
    ? []
    : [`inline_events must leave half of historyEventsWarn (${most}) to the wave itself`];
}

/** @returns contradictions between the limits, one line each. Empty when they are consistent. */
export function findLimitFaults(engine: EngineLimits, run: RunLimits): string[] {
  const faults: string[] = [];
  const expect = (holds: boolean, what: string): void => {
    if (!holds) faults.push(what);
  };
  for (const [name, value] of [...Object.entries(engine), ...Object.entries(run)]) {
    expect(Number.isInteger(value) && value >= 1, `${name} must be a whole number of at least 1`);
  }
  expect(
    run.max_output_tokens * 2 ** engine.truncationsMax <= engine.outputTokensCeiling,
    'max_output_tokens, doubled truncationsMax times, must stay within outputTokensCeiling',
  );
  expect(
    engine.shownAnswerCharsMax <= engine.inlineAnswerCharsMax,
    'shownAnswerCharsMax must not exceed inlineAnswerCharsMax',
  );
  expect(
    engine.inlineAnswerCharsMax < engine.answerCharsMax,
    'inlineAnswerCharsMax must be below answerCharsMax',
  );
  expect(
    engine.answerCharsMax * bytesPerCharMax <= engine.payloadBytesMax / 2,
    'an answer of answerCharsMax must fit into half a payload',
  );
  expect(engine.sameQuestionMax >= 2, 'sameQuestionMax below 2 would refuse every question');
  expect(
    engine.questionsMax >= engine.escalationQuestionsMax,
    'questionsMax must hold one escalation of escalationQuestionsMax',
  );
  expect(
    carriedCharsMax(engine) * bytesPerCharMax <= engine.payloadBytesMax,
    'inboxCharsMax, amendments, answers, rejections, facts and stale delegations together must fit into one payload',
  );
  expect(
    engine.effectsMax * (carriedEffectCharsMax + jsonOverheadChars) * bytesPerCharMax <=
      engine.payloadBytesMax / 2,
    'effectsMax effects of a delegation must fit into half a payload',
  );
  // Description, context, resolution and reason.
  expect(
    engine.notesMax * (4 * engine.noteTextCharsMax + jsonOverheadChars) * bytesPerCharMax <=
      engine.payloadBytesMax / 4,
    'notesMax notes of noteTextCharsMax must fit into a quarter of a payload',
  );
  expect(
    engine.shownArgumentsCharsMax < engine.questionCharsMax / 2,
    'shownArgumentsCharsMax must leave room for the rest of a question',
  );
  expect(
    engine.verdictTextCharsMax < engine.questionCharsMax / 2,
    'verdictTextCharsMax must leave room for the rest of a question',
  );
  expect(
    engine.detailsBytesMax * 4 <= engine.payloadBytesMax,
    'detailsBytesMax must be far below payloadBytesMax',
  );
  const flood = findFloodFaults(engine);
  return [...faults, ...flood, ...findAnswerFaults(engine)];
}

/** Returns the most characters that a run carries over continue-as-new with its inbox, as JSON. */
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
    engine.staleShownMax * delegationIdCharsMax
  );
}

function findFloodFaults(engine: EngineLimits): string[] {
  const fitsWrite = engine.recordChangeCharsMax * bytesPerCharMax <= engine.payloadBytesMax / 4;
  const holdsQuestion =
    engine.inboxReserveChars >= 2 * engine.questionCharsMax + engine.inlineAnswerCharsMax;
  return [
    ...(fitsWrite
      ? []
      : [
          'recordChangeCharsMax must leave three quarters of a payload to the last change, which may be larger',
        ]),
    ...(holdsQuestion ? [] : ['inboxReserveChars must hold one question of the engine']),
  ];
}

function findAnswerFaults(engine: EngineLimits): string[] {
  const { pageAnswerCharsMax: onPage, returnedAnswerCharsMax: returned } = engine;
  const fitsPage = onPage * bytesPerCharMax < (engine.detailsBytesMax * 3) / 4;
  const fitsPayload = returned * bytesPerCharMax <= engine.payloadBytesMax / 4;
  return [
    ...(fitsPage
      ? []
      : ['pageAnswerCharsMax must leave a quarter of detailsBytesMax to the rest of the page']),
    ...(onPage <= returned && fitsPayload
      ? []
      : [
          'returnedAnswerCharsMax must hold pageAnswerCharsMax and fit into a quarter of a payload',
        ]),
  ];
}

/**
 * Checks sizes. A delegation is done by a triad or by a team, never by both, so the larger of the two counts.
 *
 * @param run The largest limits that a run can have.
 */
export function findSizeFaults(
  engine: EngineLimits,
  run: Pick<RunLimits, 'max_delegations'>,
): string[] {
  const detailsBytes = engine.loadedDetailsMax * engine.detailIdCharsMax * bytesPerCharMax;
  const fitsDetails = detailsBytes * run.max_delegations <= engine.payloadBytesMax / 2;
  const executorMax = Math.max(triadBytesMax(engine), teamBytesMax(engine));
  const fitsWave = executorMax * run.max_delegations <= engine.payloadBytesMax / 4;
  const effectsBytes =
    engine.effectsMax * (carriedEffectCharsMax + jsonOverheadChars) * bytesPerCharMax;
  const teamBytes = carriedTeamBytesMax(engine, executorMax) + effectsBytes;
  const fitsTeam = teamBytes <= (engine.payloadBytesMax * 19) / 20;
  const fitsPhase = phaseBytesMax(engine) <= (engine.payloadBytesMax * 3) / 4;
  return [
    ...(fitsDetails
      ? []
      : [
          'loadedDetailsMax names of detailIdCharsMax, of every delegation of a wave, must fit into half a payload',
        ]),
    ...(fitsWave
      ? []
      : [
          'dissentCarriedMax and triadTextCharsMax, or teamMembersMax, teamExecutorCharsMax, teamNotesMax and teamNoteCharsMax, of every delegation of a wave, must fit into a quarter of a payload',
        ]),
    ...(fitsTeam
      ? []
      : [
          'teamDelegationsMax tasks, refusalsKeptMax refused calls, teamReasonCharsMax of each and effectsMax effects must leave room for the rest of a team that continues as new',
        ]),
    ...(fitsPhase
      ? []
      : [
          'sectionsMax, roundsMax, turnRecordsMax and stateAnswersCharsMax must leave a quarter of a payload to the rest of a phase',
        ]),
  ];
}

/** @returns contradictions between the time limits of a triad, one line each. */
export function findTriadFaults(triad: TriadTimes): string[] {
  const { turn_seconds, dispatch_seconds, round_seconds, phase_seconds } = triad;
  const holdsRound =
    turn_seconds <= dispatch_seconds &&
    3 * turn_seconds <= round_seconds &&
    dispatch_seconds + turn_seconds <= round_seconds;
  const holdsPhase = 2 * (round_seconds + turn_seconds) <= phase_seconds;
  return [
    ...(holdsRound
      ? []
      : [
          'round_seconds must hold three turns in a row, and a dispatch with the turn that reads it',
        ]),
    ...(holdsPhase ? [] : ['phase_seconds must hold two rounds and two more turns']),
  ];
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
  return [
    ...(2 * callSeconds <= member_timeout
      ? []
      : [
          'member_timeout must hold two calls of max_output_tokens at outputTokensPerSecondMin, one that loads and one that writes',
        ]),
    ...(2 * (callSeconds + member_timeout) <= timeout
      ? []
      : ["timeout must hold the leader's first and last call and two tasks one after the other"]),
  ];
}
