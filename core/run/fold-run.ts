/**
 * Folds a run's log into its record: what happened, event by event.
 *
 * Invariants:
 *   RL1. Facts and answers are only ever added; of a fact, only `superseded_by` changes, and an answer only when the user
 *        amends it.
 *   RL2. The usage of the record is the sum of its design and its waves until the run ends; then it is what the run reports.
 *   RL3. A question is open or answered, never both.
 *   RL4. Work that was built on what an event takes back is stale from then on.
 *   RL5. An event is all that the fold needs: folding a log at once or in parts gives the same record, and what an event
 *        does not change stays the same object.
 */
import type { Question } from '../../contracts/question.ts';
import type { EventOf, RecordBase, RecordRevision, RunEvent } from '../../contracts/run-log.ts';
import type { RunRecord, StoredAnswer } from '../../contracts/run-record.ts';
import { estimateFanOut } from '../budget/estimate-fan-out.ts';
import { engineLimits } from '../limits.ts';
import { listGuarded } from '../plan/rule-of-two.ts';
import { admitFacts } from '../pool/admit-facts.ts';
import {
  preferNewest,
  settleStanding,
  supersedeEarlier,
  factFromAnswer,
  factsFromInstruction,
} from '../pool/settle-facts.ts';
import {
  foldWaveDone,
  sumUsage,
  upsertWave,
  foldDesign,
  endEffects,
  foldReport,
} from './fold-wave.ts';
import { addPlannedCriteria, waiveRecorded } from './record-criteria.ts';
import { trackStale } from './track-consumption.ts';
import { reopenChanged } from '../criteria/criteria.ts';
import type { ReportEvent } from './fold-wave.ts';
import type { ProposedFact } from '../../contracts/agent-output.ts';
import { informsWork } from '../questions/answer-kinds.ts';
import { isSameOfPerson } from '../questions/settle-question.ts';

/** Returns the record of a revision. @param record The record of the revision before it. */
export function foldRevision(
  record: RunRecord,
  { revision, previous_ref, events }: Pick<RecordRevision, 'revision' | 'previous_ref' | 'events'>,
): RunRecord {
  return { ...events.reduce(foldRun, record), revision, previous_ref };
}

/**
 * Returns true when a revision stores the whole record too: when the events since the last one weigh as much as it did.
 * Records that grow are then stored whole at ever longer intervals, so that all of them together weigh no more than twice
 * the newest, however long the run is.
 */
export function isSnapshotDue(base: RecordBase, revision: number): boolean {
  const { snapshotRevisionsMin, snapshotRevisionsMax } = engineLimits;
  const revisions = revision - base.revision;
  if (revisions < snapshotRevisionsMin) return false;
  return revisions >= snapshotRevisionsMax || base.chars_since >= base.chars;
}

/** Returns the record after one event. */
export function foldRun(record: RunRecord, event: RunEvent): RunRecord {
  // Reports take nothing back that others built on.
  if (isReport(event)) {
    return { ...foldReport(record, event), updated_at: event.at };
  }
  const alone = foldAny(record, event);
  const next = { ...alone, updated_at: event.at };
  const ended =
    event.type === 'wave_done' ? { wave: event.wave.wave, outdated: event.found.outdated } : null;
  return trackStale(record, next, ended);
}

function foldAny(record: RunRecord, event: Exclude<RunEvent, ReportEvent>): RunRecord {
  if (isOfInbox(event)) return foldInbox(record, event);
  return isOfWave(event) ? foldWave(record, event) : foldAlone(record, event);
}

function foldWave(record: RunRecord, event: WaveEvent): RunRecord {
  switch (event.type) {
    case 'wave_planned':
      return planWave(record, event);
    case 'wave_done':
      return foldWaveDone(record, event);
    case 'wave_lost':
      return loseWave(record, event);
  }
}

function foldAlone(
  record: RunRecord,
  event: Exclude<RunEvent, InboxEvent | ReportEvent | WaveEvent>,
): RunRecord {
  switch (event.type) {
    case 'phase':
      // A run that was paused during its last write has ended all the same.
      return record.status === null ? { ...record, phase: event.phase } : record;
    case 'instruction':
      return takeInstruction(record, event);
    case 'criteria_waived': {
      const { criterion_ids, question_id } = event;
      return { ...record, criteria: waiveRecorded(record.criteria, criterion_ids, question_id) };
    }
    case 'mode_chosen':
      return { ...record, mode: event.mode };
    case 'designed':
      return foldDesign(record, event);
    case 'changes_settled':
      return { ...record, settled_changes: event.changes };
    case 'ended':
      return endRun(endEffects(record, event.at), event);
    case 'reported':
      return { ...record, result_ref: event.result_ref, report_ref: event.report_ref };
  }
}

type InboxEvent = EventOf<
  | 'question_opened'
  | 'question_answered'
  | 'question_withdrawn'
  | 'answer_amended'
  | 'answer_rejected'
>;

type WaveEvent = EventOf<'wave_planned' | 'wave_done' | 'wave_lost'>;

function isReport(event: RunEvent): event is ReportEvent {
  const { type } = event;
  return type === 'effect' || type === 'session' || type.startsWith('archiv');
}

/** Only waves have such names. */
function isOfWave(event: RunEvent): event is WaveEvent {
  return event.type.startsWith('wave_');
}

/** Questions and answers, and nothing else, have such names. */
function isOfInbox(event: RunEvent): event is InboxEvent {
  return event.type.startsWith('question_') || event.type.startsWith('answer_');
}

function foldInbox(record: RunRecord, event: InboxEvent): RunRecord {
  const { open_questions: open, rejected_answers: rejected } = record;
  switch (event.type) {
    case 'question_opened':
      return { ...record, open_questions: putOpen(open, event.question) };
    case 'question_answered':
      return takeAnswer(record, event);
    case 'question_withdrawn':
      return { ...record, open_questions: open.filter(hasOtherId(event.question_id)) };
    case 'answer_amended':
      return amendAnswer(record, event);
    case 'answer_rejected': {
      const kept = [...rejected, event.rejected].slice(-engineLimits.rejectedAnswersRecordedMax);
      return { ...record, rejected_answers: kept };
    }
  }
}

function endRun(record: RunRecord, event: EventOf<'ended'>): RunRecord {
  const { status, usage, stop_reason = '' } = event;
  const ended: RunRecord = { ...record, phase: status, status, usage };
  return stop_reason === '' ? ended : { ...ended, stop_reason };
}

function takeInstruction(
  record: RunRecord,
  { instruction, facts = [], at }: EventOf<'instruction'>,
): RunRecord {
  const instructions = [...record.instructions, instruction];
  const said = factsFromInstruction(instruction, facts, instructions.length);
  const known = admitFacts(record.facts, said, at);
  return {
    ...record,
    instructions,
    facts: settleStanding(preferNewest(known, record.facts.length)),
  };
}

function takeAnswer(
  record: RunRecord,
  { answered, answer_ref, at }: EventOf<'question_answered'>,
): RunRecord {
  const isOther = hasOtherId(answered.question_id);
  const question =
    record.open_questions.find((one) => one.question_id === answered.question_id) ?? null;
  const stored: StoredAnswer = { ...answered, answer_ref, question };
  return {
    ...record,
    open_questions: record.open_questions.filter(isOther),
    answered_questions: [...record.answered_questions.filter(isOther), stored],
    facts: settleStanding(admitFacts(record.facts, factsFromAnswer(stored), at)),
  };
}

/** One that is open already stays in its place and is shown as it stands now. */
function putOpen(open: readonly Question[], question: Question): readonly Question[] {
  const isKnown = open.some((one) => one.question_id === question.question_id);
  if (!isKnown) return [...open, question];
  return open.map((one) => (one.question_id === question.question_id ? question : one));
}

function amendAnswer(
  record: RunRecord,
  { amended, amended_at, at }: EventOf<'answer_amended'>,
): RunRecord {
  const { question_id, answer, answer_ref } = amended;
  const before = record.answered_questions.find((one) => one.question_id === question_id);
  if (before === undefined || isSameOfPerson(before, amended)) return record;
  // A confirmed answer reached its readers as it is.
  const isConfirmed = before.answer === answer && before.answer_ref === answer_ref;
  const stored: StoredAnswer = {
    ...before,
    answer,
    answer_ref,
    answered_by: 'user',
    source_refs: [],
    ...(isConfirmed ? { answered_at: amended_at } : { amended_at }),
  };
  const known = admitFacts(record.facts, factsFromAnswer(stored), at);
  return {
    ...record,
    answered_questions: record.answered_questions.map((one) => (one === before ? stored : one)),
    facts: settleStanding(supersedeEarlier(known, question_id)),
    criteria: reopenChanged(record.criteria, [question_id]),
  };
}

/** A word on one call, or on how the run goes on, is nothing that others could build on. */
function factsFromAnswer(answered: StoredAnswer): readonly ProposedFact[] {
  const kind = answered.question?.kind;
  return informsWork(kind) ? [factFromAnswer(answered)] : [];
}

function planWave(record: RunRecord, { progress, tasks, at }: EventOf<'wave_planned'>): RunRecord {
  const expected = estimateFanOut(progress.usage, progress.delegations);
  const guarded = listGuarded(progress.delegations);
  const waves = upsertWave(record.waves, {
    wave: progress.wave,
    status: 'running',
    plan_ref: progress.plan_ref,
    outcomes: [],
    decision_ref: null,
    usage: progress.usage,
    ...(expected !== null && { expected }),
    ...(guarded.length > 0 && { guarded }),
    planned_at: at,
    done_at: null,
    shown: null,
  });
  return {
    ...record,
    waves,
    usage: sumUsage({ ...record, waves }),
    criteria: addPlannedCriteria(record.criteria, tasks),
  };
}

/** Keeps the plan of the wave, if it had one. */
function loseWave(record: RunRecord, { wave, usage, at }: EventOf<'wave_lost'>): RunRecord {
  const waves = upsertWave(record.waves, {
    plan_ref: null,
    outcomes: [],
    decision_ref: null,
    planned_at: null,
    shown: null,
    ...record.waves.find((one) => one.wave === wave),
    wave,
    status: 'lost',
    usage,
    done_at: at,
  });
  return { ...record, waves, usage: sumUsage({ ...record, waves }) };
}

function hasOtherId(id: string): (one: { readonly question_id: string }) => boolean {
  return (one) => one.question_id !== id;
}
