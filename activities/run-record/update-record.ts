import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord, RecordedResult } from '../../contracts/run-record.ts';
import type { UpdateRecordInput, UpdateRecordResult } from '../../contracts/activity-types.ts';
import { engineLimits } from '../../core/limits.ts';
import { chooseStale } from '../../core/pool/mark-stale.ts';
import { foldRun } from '../../core/run/fold-run.ts';
import { explainCriteria } from '../../core/run/settle-wave.ts';
import { openCriteria } from '../../core/criteria/criteria.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { listKnownInputs } from '../../core/run/list-deliverables.ts';
import type { Fact } from '../../contracts/agent-output.ts';
import type { AssertCurrent } from '../attempt/heartbeat.ts';
import {
  readPlace,
  readRecord,
  type RecordPlace,
  appendRevision,
} from '../artifacts/record-log.ts';
import { ArtifactCorrupt, type IndexEntry } from '../ports/artifact-store.ts';
import { projectRun, removeReplacedFiles } from '../projection/project-run.ts';
import { treePaths } from '../projection/paths.ts';
import { loadTexts, type RecordTexts } from '../projection/record-texts.ts';
import { answerFileNeeds, answerNeeds, findAnswer } from '../projection/find-answer.ts';
import { renderReport, reportNeeds } from '../projection/render-report.ts';
import { renderResult, shortenAnswer } from '../projection/render-result.ts';
import type { RecordDeps } from './deps.ts';
import { projectNewest } from './export-run.ts';
import { readEvents, type ReadEvents } from './read-events.ts';
import { orNull } from '../artifacts/read-artifact.ts';

type PublishDeps = Pick<RecordDeps, 'store' | 'index' | 'projection'>;

export interface StoredRecord {
  readonly record: RunRecord;
  readonly ref: Ref;
}

/**
 * Publishes a stored record: as the readable tree, then in the index.
 *
 * Every step can be repeated. A late attempt, whose worker had been suspended, finds a descendant of its record in the
 * index and leaves it there; if the descendant came during its own writing, it rewrites the tree from that. A record
 * that does not follow from the indexed one (the workflow was reset, or its id is used again) replaces it, tree
 * included. So an attempt checks, after it has read the index, that the work is still its own: for a workflow that was
 * replaced in this way it is not.
 *
 * @param before The record before it; null for the first.
 * @param assertCurrent Throws when another attempt may have taken over the work.
 */
export async function publishRecord(
  deps: PublishDeps,
  stored: StoredRecord,
  before: RunRecord | null,
  assertCurrent: AssertCurrent,
): Promise<void> {
  const { record, ref } = stored;
  for (;;) {
    const indexed = await deps.index.read(record.run_id);
    if (await isSettled(deps, stored, indexed)) return;
    // If the index has another record than the previous one, the run may have been reset a moment ago.
    await assertCurrent(indexed.ref !== record.previous_ref);
    await projectOver(deps, record, before, indexed);
    if (await deps.index.write(record.run_id, ref, indexed.version)) return;
    // Undoes the files of a record that was overtaken in between.
    await projectNewest(deps, record.run_id, record, (newest) =>
      orNull(readRecord(deps.store, newest)),
    );
  }
}

/** Returns true when nothing is left to do: the index, which is written last, has this record or a descendant. */
async function isSettled(
  { store }: PublishDeps,
  { record, ref }: StoredRecord,
  indexed: IndexEntry,
): Promise<boolean> {
  if (indexed.ref === null || indexed.ref === record.previous_ref) return false;
  if (indexed.ref === ref) return true;
  let at: RecordPlace | null = await orNull(readPlace(store, indexed.ref));
  while (at !== null && at.revision > record.revision) {
    if (at.previous_ref === ref) return true;
    at = at.previous_ref === null ? null : await orNull(readPlace(store, at.previous_ref));
  }
  return false;
}

/** Turns the tree of the indexed record into that of `record`. */
async function projectOver(
  { store, projection }: PublishDeps,
  record: RunRecord,
  before: RunRecord | null,
  indexed: IndexEntry,
): Promise<void> {
  if (before !== null && indexed.ref !== null && indexed.ref === record.previous_ref) {
    await projectRun(record, store, projection, { since: before });
    return;
  }
  // An unreadable record may be replaced.
  const replaced = indexed.ref === null ? null : await orNull(readRecord(store, indexed.ref));
  if (replaced !== null) await removeReplacedFiles(replaced, record, store, projection);
  await projectRun(record, store, projection, 'anew');
}

/** Characters of a fact's statement in the result: it goes into history. */
const statementCharsMax = 200;

/** Characters of the reason why a criterion is not met, there too. */
const unmetReasonCharsMax = 200;

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
  const unmet_reasons = readReasons(record);
  return {
    ...(unmet_reasons !== undefined && { unmet_reasons }),
    answer: shortenAnswer(answer, result_path),
    result_path,
    report_path: `${root}/${treePaths.report}`,
    result_ref: await store.put(renderResult(record, record.status, texts, answer)),
    report_ref: await store.put(renderReport(record, record.status, texts)),
  };
}

/** @returns undefined when there are none. */
function readReasons({ waves, criteria }: RunRecord): RecordedResult['unmet_reasons'] {
  const reasons = explainCriteria(waves.flatMap(({ outcomes }) => outcomes));
  const unmet = openCriteria(criteria).flatMap((id): [string, string][] => {
    const reason = reasons.get(id);
    return reason === undefined ? [] : [[id, cutText(reason, unmetReasonCharsMax)]];
  });
  return unmet.length === 0 ? undefined : Object.fromEntries(unmet);
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
