import type { Question } from '../../contracts/question.ts';
import type { RecordChange, RunRecord, StoredAnswer } from '../../contracts/run-record.ts';
import { reopenChanged } from '../../core/criteria/settle-by-answers.ts';
import { admitFacts } from '../../core/pool/admit-facts.ts';
import { preferNewest, settleStanding, supersedeEarlier } from '../../core/pool/settle-facts.ts';
import { estimateFanOut } from '../../core/budget/estimate-fan-out.ts';
import { engineLimits } from '../../core/limits.ts';
import { informsWork } from '../../core/questions/informs-work.ts';
import { addUsage } from '../../core/usage/add-usage.ts';
import type { RecordTexts } from '../projection/record-texts.ts';
import { textOf } from '../projection/record-texts.ts';
import { applyEffect, endEffects } from './apply-effect.ts';
import { factFromAnswer, factsFromInstruction } from './propose-facts.ts';
import { applyWaveDone } from './apply-wave-done.ts';
import { addPlannedCriteria, waiveCriteria } from './record-criteria.ts';
import { trackStale } from './track-consumption.ts';
import { upsertWave } from './upsert-wave.ts';

/**
 * The record after one change. Pure: the same record, change and texts give the same record.
 *
 * Invariants:
 *   AC1. Facts and answers are only ever added; of a fact, only `superseded_by` changes, and an answer only when the user
 *        amends it.
 *   AC2. The usage of the record is the sum of its waves until the run ends; then it is what the run reports.
 *   AC3. A question is open or answered, never both.
 *   AC4. Who built on what a change takes back is stale from then on.
 *
 * @param texts every artifact that `changeNeeds` names.
 * @param now Unix epoch seconds.
 */
export function applyChange(
  record: RunRecord,
  change: RecordChange,
  texts: RecordTexts,
  now: number,
): RunRecord {
  // Takes nothing back that others built on.
  if (change.type === 'effect') return applyEffect(record, change.effect);
  const next = applyAlone(record, change, texts, now);
  if (change.type !== 'wave_done') return trackStale(record, next, null);
  const { wave, record_ref } = change.wave;
  const shown = record_ref === null ? record : textOf(texts.records, record_ref);
  return trackStale(record, next, { wave, shown });
}

function applyAlone(
  record: RunRecord,
  change: Exclude<RecordChange, Change<'effect'>>,
  texts: RecordTexts,
  now: number,
): RunRecord {
  switch (change.type) {
    case 'phase':
      return { ...record, phase: change.phase };
    case 'question_opened':
      return { ...record, open_questions: putOpen(record.open_questions, change.question) };
    case 'question_answered':
      return applyAnswer(record, change, now);
    case 'answer_amended':
      return amendAnswer(record, change, now);
    case 'question_withdrawn':
      return {
        ...record,
        open_questions: record.open_questions.filter(hasOtherId(change.question_id)),
      };
    case 'answer_rejected':
      return {
        ...record,
        rejected_answers: [...record.rejected_answers, change.rejected].slice(
          -engineLimits.rejectedRecordedMax,
        ),
      };
    case 'instruction':
      return applyInstruction(record, change, now);
    case 'criteria_waived':
      return {
        ...record,
        criteria: waiveCriteria(record.criteria, change.criterion_ids, change.question_id),
      };
    case 'wave_planned':
      return applyWavePlanned(record, change, texts, now);
    case 'wave_done':
      return applyWaveDone(record, change, texts, now);
    case 'ended':
      return applyEnded(endEffects(record, now), change);
  }
}

type Change<T extends RecordChange['type']> = Extract<RecordChange, { readonly type: T }>;

function applyEnded(record: RunRecord, change: Change<'ended'>): RunRecord {
  const { status, usage, stop_reason = '' } = change;
  const ended: RunRecord = { ...record, phase: status, status, usage };
  return stop_reason === '' ? ended : { ...ended, stop_reason };
}

function applyInstruction(
  record: RunRecord,
  { instruction, facts = [] }: Change<'instruction'>,
  now: number,
): RunRecord {
  const instructions = [...record.instructions, instruction];
  const said = factsFromInstruction(instruction, facts, instructions.length);
  const known = admitFacts(record.facts, said, now);
  return {
    ...record,
    instructions,
    facts: settleStanding(preferNewest(known, record.facts.length)),
  };
}

function applyAnswer(
  record: RunRecord,
  change: Change<'question_answered'>,
  now: number,
): RunRecord {
  const { answered, answer_ref } = change;
  const isOther = hasOtherId(answered.question_id);
  const question =
    record.open_questions.find((one) => one.question_id === answered.question_id) ?? null;
  const stored: StoredAnswer = { ...answered, answer_ref, question };
  return {
    ...record,
    open_questions: record.open_questions.filter(isOther),
    answered_questions: [...record.answered_questions.filter(isOther), stored],
    facts: settleStanding(admitFacts(record.facts, factsFromAnswer(stored), now)),
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
  { amended, amended_at }: Change<'answer_amended'>,
  now: number,
): RunRecord {
  const { question_id, answer, answer_ref } = amended;
  const before = record.answered_questions.find((one) => one.question_id === question_id);
  const isSame = before?.answer === answer && before.answer_ref === answer_ref;
  if (before === undefined || isSame) return record;
  const stored: StoredAnswer = {
    ...before,
    answer,
    answer_ref,
    answered_by: 'user',
    source_refs: [],
    amended_at,
  };
  const known = admitFacts(record.facts, factsFromAnswer(stored), now);
  return {
    ...record,
    answered_questions: record.answered_questions.map((one) => (one === before ? stored : one)),
    facts: settleStanding(supersedeEarlier(known, question_id)),
    criteria: reopenChanged(record.criteria, [question_id]),
  };
}

/** A word on one call, or on how the run goes on, is nothing that others could build on. */
function factsFromAnswer(answered: StoredAnswer): ReturnType<typeof factFromAnswer>[] {
  const kind = answered.question?.kind;
  return informsWork(kind) ? [factFromAnswer(answered)] : [];
}

function applyWavePlanned(
  record: RunRecord,
  { progress }: Change<'wave_planned'>,
  texts: RecordTexts,
  now: number,
): RunRecord {
  const expected = estimateFanOut(progress.usage, progress.delegations);
  const waves = upsertWave(record.waves, {
    wave: progress.wave,
    status: 'running',
    plan_ref: progress.plan_ref,
    outcomes: [],
    decision_ref: null,
    usage: progress.usage,
    ...(expected !== null && { expected }),
    planned_at: now,
    done_at: null,
    shown: null,
  });
  return {
    ...record,
    waves,
    usage: addUsage(...waves.map((wave) => wave.usage)),
    criteria: addPlannedCriteria(record.criteria, textOf(texts.plans, progress.plan_ref)),
  };
}

function hasOtherId(id: string): (one: { readonly question_id: string }) => boolean {
  return (one) => one.question_id !== id;
}
