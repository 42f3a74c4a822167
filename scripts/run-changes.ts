import { existsSync } from 'node:fs';
import {
  applyChanges,
  diffRun,
  undoChanges,
  type ChangeResult,
} from '../activities/adapters/git/apply-changes.ts';
import { diffOf, hasWorktree } from '../activities/adapters/git/git-worktrees.ts';
import type { ChangedRun } from '../activities/adapters/git/merge-for-user.ts';
import { GitFailed } from '../activities/adapters/git/run-git.ts';
import { repositoryOf } from '../activities/adapters/git/run-repository.ts';
import { undoDirect, type UndoneFiles } from '../activities/adapters/workspaces/undo-direct.ts';
import { readRecord } from '../activities/artifacts/record-log.ts';
import type { ArtifactStore, RunIndex } from '../activities/ports/artifact-store.ts';
import type { RunRecord } from '../contracts/run-record.ts';
import type { PageSources } from '../activities/run-record/read-page.ts';
import type { CliChanges, TakenOver } from '../client/cli/cli-deps.ts';
import { badInput, CliError, exitCodes } from '../client/cli/cli-error.ts';
import { listNames } from '../core/text/list-names.ts';
import { describeChanges } from '../core/workspace/run-changes.ts';

/** Shows, applies and undoes a run's changes to a git repository for the command line. Needs no server and no worker. */
export function createRunChanges(
  home: string,
  open: () => Promise<{ readonly store: ArtifactStore; readonly index: RunIndex }>,
): CliChanges {
  const read = async (runId: string) => {
    const { store, index } = await open();
    const { ref } = await index.read(runId);
    if (ref === null) throw new CliError('not_found', exitCodes.notFound, unknownRun(runId));
    const record = await readRecord(store, ref);
    const { workspace_dir: dir } = record;
    if (dir === undefined) {
      throw badInput(
        `Run ${runId} has no workspace of yours: its files are in its own folder. Try: planwave start with --workspace <folder>`,
      );
    }
    const run: ChangedRun = { home, run_id: runId, dir, ...describeChanges(record) };
    return { store, record, run };
  };
  const findCopies = async (runId: string) => {
    const { record, run } = await read(runId);
    if (record.changes !== 'direct') {
      if (lacksCopies(home, record)) throw notHere(runId, home);
      return { record, run };
    }
    throw badInput(
      `The agents of ${runId} worked in ${run.dir} itself: their changes are there. Try: planwave undo, or planwave start without --direct`,
    );
  };
  return {
    diff: async (runId, delegationId) => {
      const { run, record } = await findCopies(runId);
      if (delegationId !== null) {
        return inWords(() => diffDelegation(home, record, delegationId));
      }
      const patch = await inWords(() => diffRun(run));
      if (typeof patch !== 'string') takenOver(patch, run);
      return typeof patch === 'string' ? patch : '';
    },
    apply: async (runId) => {
      const { run } = await findCopies(runId);
      return takenOver(await inWords(() => applyChanges(run)), run);
    },
    undo: async (runId) => {
      const { store, record, run } = await read(runId);
      if (record.changes === 'direct') {
        return undone(await undoDirect({ home, store }, record, run.dir), run);
      }
      if (lacksCopies(home, record)) throw notHere(runId, home);
      return takenOver(await inWords(() => undoChanges(run, Math.floor(Date.now() / 1_000))), run);
    },
  };
}

/** Returns true when agents have worked in copies that are not in this home: in a shared database, the record alone is here. */
function lacksCopies(home: string, record: RunRecord): boolean {
  const { run_id, effects = [], origin, settled_changes } = record;
  if (existsSync(repositoryOf(home, run_id))) return false;
  // A fork takes over the effects of the waves before it, not their copies.
  const own = effects.filter(({ wave }) => wave >= (origin?.wave ?? 0));
  return (
    settled_changes !== undefined ||
    own.some(({ receipt }) => receipt !== null && !receipt.call && !receipt.web)
  );
}

function notHere(runId: string, home: string): CliError {
  return new CliError(
    'not_found',
    exitCodes.notFound,
    `${runId} has changed files, and its working copies are not in the home of this shell, ${home}. Nothing was changed. Try: set PLANWAVE_HOME to the home of its worker, on that host`,
  );
}

/** @throws {CliError} when the run has no such delegation: without a change it would look the same. */
async function diffDelegation(home: string, record: RunRecord, id: string): Promise<string> {
  const patch = await diffOf(home, record.run_id, id);
  const ids = record.waves.flatMap(({ outcomes }) => outcomes.map((one) => one.delegation_id));
  if (patch !== '' || ids.includes(id) || (await hasWorktree(home, record.run_id, id))) {
    return patch;
  }
  const known = ids.length === 0 ? 'None has ended yet' : `Its delegations are: ${listNames(ids)}`;
  throw new CliError(
    'not_found',
    exitCodes.notFound,
    `No delegation or task ${listNames([id])} of ${record.run_id} has worked with files. ${known}. Try: one of them, or planwave diff ${record.run_id}`,
  );
}

/** Reads the patches that a page shows. One that can't be read, as in a repository that is gone or in another home, is left out. */
export function createPageDiff(home: string): PageSources['diff'] {
  return async (record, delegationId) => {
    const { run_id, workspace_dir: dir } = record;
    if (dir === undefined || lacksCopies(home, record)) return null;
    try {
      if (delegationId !== null) return await diffOf(home, run_id, delegationId);
      const patch = await diffRun({ home, run_id, dir, ...describeChanges(record) });
      return typeof patch === 'string' ? patch : null;
    } catch (error) {
      if (error instanceof GitFailed) return null;
      throw error;
    }
  };
}

/** @throws {CliError} when nothing was written, with the files that prevented it. */
function takenOver(result: ChangeResult, { run_id, dir }: ChangedRun): TakenOver {
  switch (result.state) {
    case 'done':
      return {
        dir,
        files: result.files,
        ...(result.commit !== undefined && { commit: result.commit }),
      };
    case 'nothing':
      return { dir, files: [] };
    case 'applied_before':
      throw conflict(`The changes of ${run_id} are in ${dir} already. Try: planwave undo first`);
    case 'conflict': {
      const files = listNames(result.files);
      if (result.with === null) {
        throw conflict(
          `Nothing was changed: ${dir} and ${run_id} have different changes of ${files}. Try: planwave diff ${run_id}, and apply by hand what you want`,
        );
      }
      throw conflict(
        `Nothing was changed: ${result.with} and the delegations before it have different changes of ${files}. Try: planwave diff ${run_id} ${result.with}`,
      );
    }
    case 'in_the_way':
      throw conflict(
        `Nothing was changed: files that git ignores are in the way: ${listNames(result.files)}. Try: move them away`,
      );
  }
}

/** @throws {CliError} when nothing was written, with the files that prevented it. */
function undone(result: UndoneFiles, { run_id, dir }: ChangedRun): TakenOver {
  if (result.state === 'done') return { dir, files: result.files };
  throw conflict(
    `Nothing was changed: during ${run_id} or since, others have changed ${listNames(result.files)}. Try: effects.jsonl names the content before as replaced_ref, which planwave artifact prints`,
  );
}

async function inWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof GitFailed) throw conflict(error.message);
    throw error;
  }
}

function conflict(message: string): CliError {
  return new CliError('changes_conflict', exitCodes.unmet, message);
}

function unknownRun(runId: string): string {
  return `No run ${runId} is stored here. Try: set PLANWAVE_HOME to the value that the worker uses`;
}
