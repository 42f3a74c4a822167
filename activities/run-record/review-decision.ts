import type {
  JudgeAnswersInput,
  JudgeAnswersResult,
  ReviewDecisionInput,
  ReviewDecisionResult,
} from '../../contracts/activity-types.ts';
import type { AmendedAnswer } from '../../contracts/messages.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { checkNamedAnswer, type Answerable } from '../../core/decision/check-decision.ts';
import { checkResolutions } from '../../core/decision/check-resolutions.ts';
import { engineLimits } from '../../core/limits.ts';
import { capFaults } from '../../core/text/list-names.ts';
import { listCompleted } from '../../core/run/list-deliverables.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { hashText } from '../../core/text/hash-text.ts';
import { readDisputes } from '../artifacts/read-reports.ts';
import { readRecord } from '../artifacts/record-log.ts';
import { loadTexts, textOf, type RecordTexts } from '../projection/record-texts.ts';
import type { RecordDeps } from './deps.ts';
import { factsFromOutputs } from '../../core/pool/settle-facts.ts';
import { isSameOfPerson, judgeAmendedAnswer } from '../../core/questions/settle-question.ts';
import { checkReopened, conflictOfMerge, listDropped } from '../../core/workspace/run-changes.ts';

/**
 * Judges answers that the user wants to change, by the questions as the record keeps them: the workflow has forgotten how
 * an answered question was asked. What a person answered already is left out: it changes nothing.
 *
 * @throws {ArtifactCorrupt} when the record is missing or damaged.
 * @throws {StoreUnavailable} when the store can't be read or written.
 */
export async function judgeAnswers(
  { store }: Pick<RecordDeps, 'store'>,
  { record_ref, answers }: JudgeAnswersInput,
): Promise<JudgeAnswersResult> {
  const { open_questions: open, answered_questions: answered } = await readRecord(
    store,
    record_ref,
  );
  const judged = answers.map(({ question_id, answer }) => ({
    question_id,
    verdict: judgeAmendedAnswer({ open, answered }, question_id, answer),
  }));
  const refused = judged.flatMap(({ verdict }) => (verdict.ok ? [] : [verdict.reason]));
  if (refused.length > 0) return { type: 'refused', reasons: refused };
  const taken = judged.flatMap(({ question_id, verdict }) =>
    verdict.ok ? [{ question_id, text: verdict.text }] : [],
  );
  const amended = await Promise.all(
    taken.map(async ({ question_id, text }) => ({
      question_id,
      hash: hashText(text),
      answer: cutText(text, engineLimits.inlineAnswerCharsMax),
      answer_ref: text.length > engineLimits.inlineAnswerCharsMax ? await store.put(text) : null,
    })),
  );
  const isRepeated = (one: AmendedAnswer): boolean =>
    answered.some((two) => two.question_id === one.question_id && isSameOfPerson(two, one));
  return { type: 'taken', answers: amended.filter((one) => !isRepeated(one)) };
}

/**
 * Checks a decision against the pool, the statements of the wave's outputs and the disputes of its triads, and its
 * answer against the run's results. Only the faults go through history.
 *
 * @throws {ArtifactCorrupt} when the record, an output or the decision is missing or damaged.
 * @throws {StoreUnavailable} when the store can't be read.
 */
export async function reviewDecision(
  { store }: Pick<RecordDeps, 'store'>,
  { record_ref, wave, outcomes, merge_conflicts = [], decision_ref }: ReviewDecisionInput,
): Promise<ReviewDecisionResult> {
  const record = await readRecord(store, record_ref);
  const outputs = outcomes.map(({ output_ref }) => output_ref);
  const texts = await loadTexts(store, [{ outputs, decisions: [decision_ref] }]);
  const decision = textOf(texts.decisions, decision_ref);
  const faults = checkResolutions(decision, {
    pool: record.facts,
    stated: factsFromOutputs(wave, outcomes, (ref) => textOf(texts.outputs, ref)),
    disputes: [
      ...merge_conflicts.map(conflictOfMerge),
      ...(await readDisputes(store, wave, outcomes)).map(({ conflict }) => conflict),
    ],
  });
  const named = checkNamedAnswer(decision.answer, listAnswerable(record, outcomes, texts));
  const dropped = listDropped(merge_conflicts, decision.planner_decision.conflicts_resolved);
  const results = outcomes.filter(isCompleted).map(({ delegation_id, output_ref }) => ({
    delegation_id,
    criterion_ids:
      output_ref === null
        ? []
        : textOf(texts.outputs, output_ref).coverage.criteria_met.map((one) => one.criterion_id),
  }));
  const reopened = checkReopened(dropped, results, decision);
  return { faults: capFaults([...faults, ...reopened, ...named]) };
}

/**
 * Lists the results before the wave and those of the wave. A claimed effect counts as confirmed, because its output was
 * checked.
 */
function listAnswerable(
  record: RunRecord,
  outcomes: ReviewDecisionInput['outcomes'],
  texts: RecordTexts,
): Answerable {
  const { effects = [] } = record;
  const confirmed = effects.filter(({ state }) => state === 'confirmed');
  // Commands and calls of something elsewhere are effects too, and their targets no paths.
  const others = confirmed.filter(
    ({ receipt }) => receipt !== null && (receipt.command ?? receipt.call ?? receipt.web),
  );
  const noFiles = new Set(others.map(({ target }) => target));
  const claimed = outcomes.flatMap(({ output_ref }) =>
    output_ref === null ? [] : textOf(texts.outputs, output_ref).effects_claimed,
  );
  return {
    delegations: [...listCompleted(record), ...outcomes.filter(isCompleted)].map(
      ({ delegation_id }) => delegation_id,
    ),
    files: [...confirmed.map(({ target }) => target), ...claimed].filter(
      (target) => !noFiles.has(target),
    ),
  };
}

function isCompleted({ status, output_ref }: ReviewDecisionInput['outcomes'][number]): boolean {
  return status === 'completed' && output_ref !== null;
}
