import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord, StoredResult } from '../../contracts/run-record.ts';
import type { StatusView } from '../../contracts/views.ts';
import { listNames } from '../../core/text/list-names.ts';
import type { CoordinationPlan } from '../../contracts/coordination-plan.ts';
import { readRecord } from '../artifacts/record-log.ts';
import { treePaths } from '../projection/paths.ts';
import { projectRun, removeReplacedFiles } from '../projection/project-run.ts';
import { readCoordinationPlan } from '../artifacts/read-reports.ts';
import type { RecordDeps } from './deps.ts';

export interface ExportedRun {
  readonly files: number;
  /** The run's folder below the artifact home. */
  readonly root: string;
}

/**
 * Rebuilds the readable tree of a run from the index and the store alone, with no server and no worker. If a worker
 * advances the run at the same time, the tree shows the newest record.
 *
 * @throws {UnknownRun} when the index does not have the run; the message lists those it has.
 * @throws {ArtifactCorrupt} when an artifact is missing, damaged, or of an unknown version.
 * @throws {StoreUnavailable} when the store can't be read or the tree not be written.
 */
export async function exportRun(
  deps: Pick<RecordDeps, 'store' | 'index' | 'projection'>,
  runId: string,
): Promise<ExportedRun> {
  const files = await projectNewest(deps, runId, null, (ref) => readRecord(deps.store, ref));
  if (files === null) throw new UnknownRun(runId, await deps.index.list());
  return { files, root: deps.projection.rootOf(runId) };
}

export class UnknownRun extends Error {
  override readonly name = 'UnknownRun';

  constructor(runId: string, known: readonly string[]) {
    const rest =
      known.length === 0 ? 'No run is recorded here.' : `Known runs: ${listNames(known)}.`;
    super(`There is no run ${listNames([runId])}. ${rest}`);
  }
}

/**
 * Rewrites the readable tree from the newest indexed record, and repeats while another worker publishes a newer one.
 *
 * @param outrun A record whose files may be in the tree: after a reset it may have others. Null when there is none.
 * @param read Returns the record of a reference; null writes nothing for it.
 * @returns the number of written files; null when the index has no record of the run, or none that was read.
 * @throws {StoreUnavailable} when the store can't be read or the tree not be written.
 */
export async function projectNewest(
  { store, index, projection }: Pick<RecordDeps, 'store' | 'index' | 'projection'>,
  runId: string,
  outrun: RunRecord | null,
  read: (ref: Ref) => Promise<RunRecord | null>,
): Promise<number | null> {
  let before = outrun;
  for (;;) {
    const { ref, version } = await index.read(runId);
    const record = ref === null ? null : await read(ref);
    let files: number | null = null;
    if (record !== null) {
      if (before !== null) await removeReplacedFiles(before, record, store, projection);
      files = await projectRun(record, store, projection, 'all');
      before = record;
    }
    if ((await index.read(runId)).version === version) return files;
  }
}

/** @returns the newest record of a run. @throws UnknownRun when there is none. */
export async function readNewest(
  { store, index }: Pick<RecordDeps, 'store' | 'index'>,
  runId: string,
): Promise<RunRecord> {
  const { ref } = await findNewest(index, runId);
  return readRecord(store, ref);
}

/** @returns the place of the newest record of a run. @throws UnknownRun when there is none. */
export async function findNewest(
  index: RecordDeps['index'],
  runId: string,
): Promise<{ readonly ref: Ref; readonly version: number }> {
  const { ref, version } = await index.read(runId);
  if (ref === null) throw new UnknownRun(runId, await index.list());
  return { ref, version };
}

/**
 * Reads the end of a run from the store: the files themselves are a projection, and may be missing.
 *
 * @returns null when the index does not have the run, or the run has no result yet.
 */
export async function readStoredResult(
  { store, index, projection }: Pick<RecordDeps, 'store' | 'index' | 'projection'>,
  runId: string,
): Promise<StoredResult | null> {
  const { ref } = await index.read(runId);
  if (ref === null) return null;
  const { result_ref, report_ref } = await readRecord(store, ref);
  if (result_ref === null || report_ref === null) return null;
  const root = projection.rootOf(runId);
  return {
    result_md: await store.getText(result_ref),
    report_md: await store.getText(report_ref),
    result_path: `${root}/${treePaths.result}`,
    report_path: `${root}/${treePaths.report}`,
  };
}

/**
 * Reads the status of a run from the store, for runs that the server has deleted after the retention time.
 *
 * @returns null when the index does not have the run.
 */
export async function readStoredStatus(
  deps: Pick<RecordDeps, 'store' | 'index' | 'projection'>,
  runId: string,
): Promise<StatusView | null> {
  const { ref } = await deps.index.read(runId);
  if (ref === null) return null;
  const record = await readRecord(deps.store, ref);
  const newest = record.waves.at(-1);
  const { wave = 0, guarded } = newest ?? {};
  return {
    run_id: record.run_id,
    goal: record.goal_title,
    phase: record.phase,
    wave,
    waves_allowed: wave,
    waiting_for: record.open_questions.map(({ question_id, text }) => `${question_id}: ${text}`),
    open_questions: record.open_questions.length,
    usage: record.usage,
    paused_reason: null,
    parked_reason: null,
    wave_workflow_id: null,
    ...(guarded !== undefined && { guarded }),
    result_path: record.result_ref === null ? null : `${deps.projection.rootOf(runId)}/result.md`,
  };
}

/**
 * Reads the plan of a run from the store.
 *
 * @param version From 1; if undefined, the newest.
 * @returns null when the run has no such plan, because it is not designed or its design is not that far.
 * @throws {UnknownRun} when the index does not have the run.
 */
export async function readStoredPlan(
  { store, index }: Pick<RecordDeps, 'store' | 'index'>,
  runId: string,
  version?: number,
): Promise<CoordinationPlan | null> {
  const { ref } = await index.read(runId);
  if (ref === null) throw new UnknownRun(runId, await index.list());
  const { design } = await readRecord(store, ref);
  const refs = design?.plan_refs ?? [];
  const planRef = version === undefined ? refs.at(-1) : refs[version - 1];
  return planRef === undefined ? null : readCoordinationPlan(store, planRef);
}
