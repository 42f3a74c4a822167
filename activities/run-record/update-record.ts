import type { UpdateRecordInput, UpdateRecordResult } from '../../contracts/activity-types.ts';
import type { RecordedResult, RunRecord } from '../../contracts/run-record.ts';
import { engineLimits } from '../../core/limits.ts';
import { chooseStale } from '../../core/pool/mark-stale.ts';
import { foldRun } from '../../core/run/fold-run.ts';
import { cutText } from '../../core/text/cut-text.ts';
import type { AssertCurrent } from '../attempt/while-current.ts';
import { ArtifactCorrupt } from '../ports/artifact-store.ts';
import { treePaths } from '../projection/paths.ts';
import { loadTexts } from '../projection/record-texts.ts';
import type { RecordTexts } from '../projection/record-texts.ts';
import { answerFileNeeds, answerNeeds, findAnswer } from '../projection/find-answer.ts';
import { renderReport, reportNeeds } from '../projection/render-report.ts';
import { renderResult, shortenAnswer } from '../projection/render-result.ts';
import type { RecordDeps } from './deps.ts';
import { listKnownInputs } from '../../core/run/list-deliverables.ts';
import { publishRecord } from './publish-record.ts';
import { readEvents } from './read-events.ts';
import type { ReadEvents } from './read-events.ts';
import { appendRevision, readRecord } from '../artifacts/record-log.ts';
import type { Fact } from '../../contracts/agent-output.ts';

/** Characters of a fact's statement in the result: it goes into history. */
const statementCharsMax = 200;

/**
 * Adds changes to a run's log, in order, and publishes the new record. Repeating it gives the same record.
 *
 * @param assertCurrent throws when another worker may have the work.
 * @throws {ArtifactCorrupt} when the record or an artifact that a change names is missing, damaged, or not this run's.
 * @throws {StoreUnavailable} when the store can't be read or written.
 */
export async function updateRecord(
  deps: Omit<RecordDeps, 'agents' | 'toolNames' | 'workspaces'>,
  input: UpdateRecordInput,
  assertCurrent: AssertCurrent,
): Promise<UpdateRecordResult> {
  const before = await readRecord(deps.store, input.record_ref);
  checkRun(before, input);
  const read = await readEvents(deps.store, before, input.changes, input.now);
  const isEnded = input.changes.some((change) => change.type === 'ended');
  const ended = isEnded ? await writeResult(deps, read.record) : null;
  const { ref, record } = await appendRevision(
    deps.store,
    input.record_ref,
    ended === null ? read : addReport(read, ended, input.now),
  );
  await publishRecord(deps, { ref, record }, before, assertCurrent);
  return {
    record_ref: ref,
    facts_total: record.facts.length,
    facts_added: record.facts
      .slice(before.facts.length)
      .slice(-engineLimits.factsCarriedMax)
      .map(shortenFact),
    known_inputs: listKnownInputs(record),
    stale: chooseStale(record.stale).map(({ delegation_id }) => delegation_id),
    result: ended,
  };
}

function checkRun(record: RunRecord, { run_id, record_ref }: UpdateRecordInput): void {
  if (record.run_id === run_id) return;
  const message = `The record ${record_ref} belongs to the run "${record.run_id}", not to "${run_id}".`;
  throw new ArtifactCorrupt(message, { ref: record_ref, path: record_ref });
}

/** Stores `result.md` and `report.md` of a run that has ended. */
async function writeResult(
  { store, projection }: Pick<RecordDeps, 'store' | 'projection'>,
  record: RunRecord,
): Promise<RecordedResult | null> {
  if (record.status === null) return null;
  const needed = await loadTexts(store, [answerNeeds(record), reportNeeds(record)]);
  const { markdown } = await loadTexts(store, [answerFileNeeds(record, needed)]);
  const texts: RecordTexts = { ...needed, markdown };
  const answer = findAnswer(record, texts);
  const root = projection.rootOf(record.run_id);
  const result_path = `${root}/${treePaths.result}`;
  return {
    answer: shortenAnswer(answer, result_path),
    result_path,
    report_path: `${root}/${treePaths.report}`,
    result_ref: await store.put(renderResult(record, record.status, texts, answer)),
    report_ref: await store.put(renderReport(record, record.status, texts)),
  };
}

function addReport(
  { events, record }: ReadEvents,
  { result_ref, report_ref }: RecordedResult,
  at: number,
): ReadEvents {
  const reported = { type: 'reported', at, result_ref, report_ref } as const;
  return { events: [...events, reported], record: foldRun(record, reported) };
}

/** Cuts what goes into history. */
export function shortenFact(fact: Fact): Fact {
  return { ...fact, statement: cutText(fact.statement, statementCharsMax) };
}
