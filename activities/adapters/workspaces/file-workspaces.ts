import { lstat, mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Ref } from '../../../contracts/ref.ts';
import { checkWorkspacePath, foldFileName } from '../../../core/effects/check-workspace-path.ts';
import { engineLimits } from '../../../core/limits.ts';
import { toRunDirectory, toWrittenFolder, treePaths } from '../../projection/paths.ts';
import { hashBytes } from '../../text/bytes.ts';
import {
  WorkspaceRefused,
  type ChangedFile,
  type ChangeTerms,
  type FileState,
  type FoundFile,
  type WorkspacePlace,
  type Workspaces,
} from '../../ports/workspaces.ts';
import type { Worktrees } from '../../ports/worktrees.ts';
import { atomicCreateFile } from '../file-store/atomic-write-file.ts';
import { getCode } from '../file-store/store-errors.ts';
import {
  isBelow,
  realOf,
  closing,
  descend,
  type OpenFolder,
  refuseOwn,
  toRefusal,
  findFolderFault,
} from './open-folder.ts';
import {
  refuseChanged,
  refuseIgnored,
  removeFile,
  replaceFile,
  type FilePlace,
} from './change-file.ts';
import { createReader, type Root, throwMissing } from './read-workspace.ts';
import type { RedactLines } from './read-file.ts';
import { readGrants } from './readable-paths.ts';
import { createOwnCopies } from './own-folder.ts';
import { takeOver } from './take-over.ts';

/** Opens the notes of what runs have written: one empty file for each run, path and content, below `<home>/written`. */
function openWritten(home: string) {
  const folderOf = (runId: string): string => join(home, toWrittenFolder(runId));
  const noteOf = (runId: string, path: string, sha256: string): string =>
    join(folderOf(runId), hashBytes(`${path}\n${sha256}`));
  return {
    folderOf,
    has: async (...note: Parameters<typeof noteOf>): Promise<boolean> =>
      (await lstat(noteOf(...note)).catch(() => null))?.isFile() === true,
    add: (...note: Parameters<typeof noteOf>) =>
      atomicCreateFile(noteOf(...note), '', { root: home }),
  };
}

export interface FileWorkspacesOptions {
  readonly home: string;
  /** Folders that a run's input may name, with all below them. If undefined, any. */
  readonly roots?: readonly string[] | undefined;
  /** Keeps content that is about to be replaced, byte for byte. */
  readonly keep: (content: Uint8Array) => Promise<Ref>;
  /** Takes secrets out of what is read to be shown. If absent, nothing is taken out. */
  readonly redactLines?: RedactLines;
  /** Copies of workspaces. If absent, each workspace is used directly. */
  readonly worktrees?: Pick<Worktrees, 'open' | 'leavesOut' | 'listKept'>;
  /** Patterns of private or ignored files that may be read, as in a `.gitignore`. If absent, none. */
  readonly readable?: readonly string[];
}

const same: RedactLines = (lines) => lines;

/** File of one call. */
interface Target extends FilePlace {
  /** True in a delegation's copy. */
  readonly isCopy: boolean;
}

/**
 * Creates workspaces as folders: the one that a run's input names, or a delegation's copy of it, or `<home>/<run directory>/workspace`.
 *
 * FW1. Nothing outside the workspace is read or written: not by `..`, an absolute path, a link, or a name that another
 *      system reads differently.
 * FW2. A name that differs from an existing one only in case or Unicode form is not written: on another file system the
 *      two are one file.
 * FW3. Agents can't reach the engine's own files, even in a workspace that contains the artifact home.
 * FW4. A reader sees an old file or a new one, whole; a failed write changes nothing, and what a killed one left goes with the
 *      next write of the file.
 * FW5. Content that the run did not write is kept before it is replaced or removed, but in a copy: there it is in git.
 * FW6. An attempt that goes on late, because its process was suspended, removes no file that came since.
 */
export function createFileWorkspaces(options: FileWorkspacesOptions): Workspaces {
  const home = resolve(options.home);
  const written = openWritten(home);
  const rootOf = (place: WorkspacePlace): Promise<Root> => findRoot(home, options, place);
  const find = async (place: WorkspacePlace, target: Target): Promise<FoundFile | null> => {
    const state = await readState(target);
    if (state === null) return null;
    const by_run = target.isCopy || (await written.has(place.run_id, target.shown, state.sha256));
    return { ...state, by_run };
  };
  /** @returns null for no file, and for content that the run wrote itself. */
  const keep = async (found: FoundFile | null, target: Target) =>
    found === null || found.by_run ? null : keepContent(options, target);
  /** Runs a change between two looks at the file: what was found is kept, and what came since is not replaced. */
  const change = async (
    { place, target, terms }: { place: WorkspacePlace; target: Target; terms: ChangeTerms },
    act: (found: FoundFile | null, mayStill: () => Promise<void>) => Promise<FileState>,
  ): Promise<ChangedFile> => {
    const found = await find(place, target);
    checkExpected(target, found, terms);
    const before = await keep(found, target);
    const kept = before !== null && { replaced_ref: before.ref, replaced_mode: before.mode };
    const state = await act(found, async () => {
      await terms.mayStill?.();
      checkExpected(target, await readState(target), { expected: found?.sha256 ?? null });
    });
    return { ...state, ...kept };
  };
  return {
    ...createReader(rootOf, readGrants(options.readable ?? []), options.redactLines ?? same),
    async folderOf(place) {
      const { path, names } = await rootOf(place);
      const folder = join(path, ...names);
      await mkdir(folder, { recursive: true });
      return folder;
    },
    ...createOwnCopies(home),
    takeOver: (from, to, assertCurrent) => takeOver({ home, written, assertCurrent }, from, to),
    findFault: (dir, copies) => findFolderFault(home, options.roots ?? null, dir, copies),
    look: async (place, path, { keeps = false } = {}) =>
      inTarget(await rootOf(place), path, false, async (target) => {
        const found = await find(place, target);
        const kept = keeps ? await keep(found, target) : null;
        if (found === null || kept === null) return found;
        return { ...found, kept_ref: kept.ref, kept_mode: kept.mode };
      }),
    async write(place, path, content, terms = {}) {
      const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
      const state = { sha256: hashBytes(bytes), bytes: bytes.byteLength };
      const done = await inTarget(await rootOf(place), path, true, (target) =>
        change({ place, target, terms }, async (_found, mayStill) => {
          // Noted first: a crash may come between the note and the change, never the other way round. A copy needs none.
          if (!target.isCopy) await written.add(place.run_id, path, state.sha256);
          else if (await options.worktrees?.leavesOut(place, path)) throw refuseIgnored(path);
          await replaceFile(target, bytes, { ...terms, mayStill });
          return state;
        }),
      );
      return done ?? throwMissing(path);
    },
    async remove(place, path, terms = {}) {
      const done = await inTarget(await rootOf(place), path, false, (target) =>
        change({ place, target, terms }, async (found, mayStill) => {
          if (found === null) return throwMissing(path);
          await removeFile(target, mayStill);
          return { sha256: found.sha256, bytes: found.bytes };
        }),
      );
      return done ?? throwMissing(path);
    },
  };
}

/** Finds where a delegation works: in its copy, in the folder that the input names, or in one of the run's own. */
async function findRoot(
  home: string,
  { worktrees }: Pick<FileWorkspacesOptions, 'worktrees'>,
  place: WorkspacePlace,
): Promise<Root> {
  const { dir, run_id } = place;
  if (dir === null) {
    const names = [toRunDirectory(run_id), treePaths.workspace];
    return { path: home, names, home: null, isCopy: false };
  }
  const copy = (await worktrees?.open(place)) ?? null;
  const listKept = async () => (await worktrees?.listKept(place)) ?? [];
  if (copy !== null) return { path: copy, names: [], home: null, isCopy: true, listKept };
  return { path: resolve(dir), names: [], home: await realOf(home), isCopy: false };
}

/**
 * Opens the folder of a file that may be changed, after checking each name on the way.
 *
 * @param create True to create missing folders.
 * @returns null when a folder is missing.
 */
async function inTarget<T>(
  { path: root, names, home, isCopy }: Root,
  shown: string,
  create: boolean,
  work: (target: Target) => Promise<T>,
): Promise<T | null> {
  const checked = checkWorkspacePath(shown);
  if (!checked.ok) throw new WorkspaceRefused(checked.reason);
  const parts = [...names, ...checked.parts];
  const name = parts.at(-1) ?? '';
  const folder = await descend(root, parts.slice(0, -1), {
    create,
    onWay: (on, next) => checkName(on, next, shown, 'a folder'),
  }).catch((error: unknown) => {
    if (getCode(error) === 'ENOENT' && !create) return null;
    throw toRefusal(shown, 'looked up', error);
  });
  if (folder === null) return null;
  return closing(folder, async () => {
    if (home !== null && isBelow(home, join(folder.real, name))) throw refuseOwn(shown);
    checkName(folder, name, shown, 'a file');
    return work({ folder, name, shown, isCopy });
  });
}

/** Checks what stands under a name that is to be used, and under names that some systems take for it. */
function checkName(
  folder: OpenFolder,
  name: string,
  shown: string,
  expected: 'a file' | 'a folder',
): void {
  const entries = folder.entries();
  const fold = foldFileName(name);
  const twin = entries.find((entry) => entry.name !== name && foldFileName(entry.name) === fold);
  if (twin !== undefined) {
    throw new WorkspaceRefused(
      `${JSON.stringify(shown)} can't be used: ${JSON.stringify(twin.name)} is there already, and some systems take the two for one. Try: that name, or another one.`,
    );
  }
  const there = entries.find((entry) => entry.name === name);
  if (there === undefined) return;
  if (expected === 'a file' ? there.isFile() : there.isDirectory()) return;
  throw new WorkspaceRefused(
    `${JSON.stringify(shown)} can't be used: ${JSON.stringify(name)} is not ${expected} but something else. Try: another path.`,
  );
}

function checkExpected(
  { shown }: Target,
  found: FileState | null,
  { expected }: Pick<ChangeTerms, 'expected'>,
): void {
  if (expected === undefined || expected === (found?.sha256 ?? null)) return;
  throw refuseChanged(shown);
}

async function readState({ folder, name, shown }: Target): Promise<FileState | null> {
  try {
    const file = folder.openFile(name);
    return file === null ? null : await closing(file, () => file.hash());
  } catch (error) {
    throw toRefusal(shown, 'read', error);
  }
}

async function keepContent({ keep }: Pick<FileWorkspacesOptions, 'keep'>, target: Target) {
  const { content, mode } = await readForKeeping(target);
  return { ref: await keep(content), mode };
}

async function readForKeeping({ folder, name, shown }: Target) {
  const file = folder.openFile(name);
  if (file === null) return throwMissing(shown);
  const { keptFileBytesMax: max } = engineLimits;
  const content = await closing(file, () => file.readAtMost(max + 1));
  if (content.byteLength <= max) return { content, mode: file.mode };
  throw new WorkspaceRefused(
    `${JSON.stringify(shown)} has more than ${max} bytes, too many to keep what it holds. Try: another path.`,
  );
}
