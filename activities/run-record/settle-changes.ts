import { taskOwner } from '../../core/ids.ts';
import { engineLimits } from '../../core/limits.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { readRecord } from '../artifacts/record-log.ts';
import type { AssertCurrent } from '../attempt/heartbeat.ts';
import type { ChangedFolder } from '../ports/run-changes.ts';
import type { RecordDeps } from './deps.ts';
import { cutConflicts, describeChanges, sumSizes } from '../../core/workspace/run-changes.ts';
import type {
  ApplyChangesInput,
  ApplyChangesResult,
  ChangesInput,
  DelegationChange,
  FindMergeConflictsInput,
  FindMergeConflictsResult,
  MergeConflict,
  ProposedChanges,
} from '../../contracts/effect.ts';

type ChangeDeps = Pick<RecordDeps, 'store' | 'changes'>;

/** Finds contradictory changes before the planner decides on the wave that made them, or a leader on its team's. */
export async function findMergeConflicts(
  { store, changes }: ChangeDeps,
  { completed, team, unfinished = [], ...input }: FindMergeConflictsInput,
): Promise<FindMergeConflictsResult> {
  const folder = await findFolder(store, input);
  if (folder === null) return { conflicts: [], sizes: [] };
  if (team !== undefined) {
    return { conflicts: await changes.findTaskConflicts(folder, team, unfinished), sizes: [] };
  }
  const delegation_ids = [...new Set([...folder.delegation_ids, ...completed])];
  const conflicts = await changes.findConflicts({ ...folder, delegation_ids });
  const sizes = await changes.measure({ ...folder, delegation_ids: completed });
  const tasks = await findLeftTasks(changes, folder, completed);
  return { conflicts, ...(tasks.length > 0 && { tasks }), sizes: addTasks(sizes) };
}

/** Changes that the teams of one wave left out: those of five teams with as many as there can be. */
const taskConflictsMax = 5 * engineLimits.mergeConflictsMax;

/** Finds the tasks whose changes the teams of completed delegations left out. The team's end has noted who did not complete. */
async function findLeftTasks(
  changes: ChangeDeps['changes'],
  folder: ChangedFolder,
  completed: readonly string[],
): Promise<readonly MergeConflict[]> {
  const left: MergeConflict[] = [];
  for (const id of completed) {
    // One after the other: they share a repository.
    // oxlint-disable-next-line no-await-in-loop
    left.push(...(await changes.findTaskConflicts(folder, id, [])));
  }
  return cutConflicts(left, taskConflictsMax);
}

/** Adds the changes of a team's tasks to those of its delegation. */
function addTasks(sizes: readonly DelegationChange[]): DelegationChange[] {
  const owners = new Set(sizes.map(({ delegation_id }) => taskOwner(delegation_id)));
  return [...owners].map((delegation_id) => ({
    delegation_id,
    ...sumSizes(sizes.filter((one) => taskOwner(one.delegation_id) === delegation_id)),
  }));
}

/** Sums up what a run's agents have changed in the user's folder. Null when there is nothing. */
export async function proposeChanges(
  { store, changes }: ChangeDeps,
  input: ChangesInput,
): Promise<ProposedChanges | null> {
  const folder = await findFolder(store, input);
  const proposed = folder === null ? null : await changes.propose(folder);
  if (proposed === null) return null;
  const { patch, ...rest } = proposed;
  return {
    ...rest,
    patch_ref: await store.put(patch),
    patch_shown: cutText(patch, engineLimits.patchShownCharsMax),
  };
}

/** Brings a run's changes into the user's folder, at most once, however often the activity is repeated. */
export async function applyRunChanges(
  { store, changes }: ChangeDeps,
  input: ApplyChangesInput,
  assertCurrent: AssertCurrent,
): Promise<ApplyChangesResult> {
  const folder = await findFolder(store, input);
  if (folder === null) return { state: 'kept', note: 'The run has no folder of yours.' };
  await assertCurrent();
  const message = `${input.goal_title}\n\nMade by planwave, run ${input.run_id}.`;
  return changes.apply(folder, input.commit ? { message, at: input.at } : null);
}

async function findFolder(
  store: ChangeDeps['store'],
  { run_id, record_ref }: ChangesInput,
): Promise<ChangedFolder | null> {
  const record = await readRecord(store, record_ref);
  const { workspace_dir: dir, changes } = record;
  if (dir === undefined || changes === 'direct') return null;
  return { run_id, dir, ...describeChanges(record) };
}
