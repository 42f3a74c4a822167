import type { Ref } from '../../contracts/ref.ts';

/** Place of a workspace: the folder that a run's input names, or, when that is null, one of the run's own. */
export interface WorkspacePlace {
  readonly run_id: string;
  /** Absolute path on the worker. */
  readonly dir: string | null;
  /** The delegation that works there: it has a copy of its own. If absent, the folder is used. */
  readonly worker?: WorkspaceWorker;
}

export interface WorkspaceWorker {
  readonly delegation_id: string;
  /** Delegations whose changes are in its copy from the start, in the order in which they are merged. */
  readonly foundations: readonly string[];
}

export interface FileState {
  /** 64 lower-case hex digits. */
  readonly sha256: string;
  readonly bytes: number;
}

/** A file that may be replaced or removed. */
export interface FoundFile extends FileState {
  /** True when the run wrote the file's present content, or the file is in a copy: then no work of others is lost with it. */
  readonly by_run: boolean;
  /** The content as an artifact, when it was to be kept and is not the run's own. */
  readonly kept_ref?: Ref;
  /** Permissions of the file, when its content was kept. */
  readonly kept_mode?: number;
}

/** Condition of a change: it is made if the file is as it was, and if the caller may still make it. */
export interface ChangeTerms {
  /** SHA-256 of the content that is replaced; null when there must be no file. If undefined, any content. */
  readonly expected?: string | null;
  /** Called when everything is ready, right before the change. Its error is passed on, and nothing is changed. */
  readonly mayStill?: () => Promise<void>;
  /** Permissions of a file that a write makes; a replaced file keeps its own. If undefined, those of the umask. */
  readonly mode?: number;
}

/** State after a change. */
export interface ChangedFile extends FileState {
  /** The replaced content, as an artifact, when it was not the run's own. Absent when nothing was lost. */
  readonly replaced_ref?: Ref;
  /** Permissions of the file that had it. */
  readonly replaced_mode?: number;
}

export interface ListedEntry {
  /** Path below the workspace. */
  readonly path: string;
  readonly kind: 'file' | 'folder' | 'other';
  /** 0 for all but files. */
  readonly bytes: number;
}

export interface FolderListing {
  readonly entries: readonly ListedEntry[];
  /** True when there are more than a listing may hold. */
  readonly isCut: boolean;
}

export interface FileContent extends FileState {
  readonly content: Uint8Array;
}

/** Lines to read. */
export interface LineRange {
  /** The first one; lines count from 1. */
  readonly from: number;
  /** Characters after which no further line begins. */
  readonly charsMax: number;
  /** Most characters of one line. */
  readonly lineCharsMax: number;
}

export interface ReadLine {
  /** The line without its end, cut. */
  readonly text: string;
  /** Characters that were cut off. */
  readonly chars_left: number;
}

/** Lines of a file, and the state of the whole. `lines` is null for a file that is no text in UTF-8. */
export type FileLines = FileState &
  (
    | { readonly lines: readonly ReadLine[]; readonly lines_total: number }
    | { readonly lines: null }
  );

export interface SearchOrder {
  /** A regular expression in Rust's syntax. */
  readonly pattern: string;
  /** Folder or file below the workspace; empty for all of it. */
  readonly path: string;
  /** Files to search, as a pattern of a `.gitignore`. Null for all. */
  readonly glob: string | null;
  readonly ignoreCase: boolean;
}

export interface SearchMatch {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

export interface SearchResult {
  readonly matches: readonly SearchMatch[];
  /** True when there are more than a search may return. */
  readonly isCut: boolean;
}

/**
 * Workspaces of agents: one folder for each run. Nothing outside it is read or written, whatever a path says, and no
 * link is followed.
 *
 * A path that is changed follows `checkWorkspacePath`, one that is read `checkReadPath`: parts joined by `/`, relative
 * to the workspace. Private names and ignored files are neither read, listed nor searched.
 *
 * Each method throws {WorkspaceRefused} when the path leads elsewhere, is private, or is no file or folder.
 */
export interface Workspaces {
  /**
   * Checks a folder that an input names: returns its fault with a cure, or null when it can be used.
   *
   * @param isCopied False when agents work in the folder itself.
   */
  findFault(dir: string, isCopied: boolean): Promise<string | null>;

  /** Returns the workspace's folder on this machine, an absolute path, for a command. It is made when it is missing. */
  folderOf(place: WorkspacePlace): Promise<string>;

  /**
   * Copies a run's own folder for one delegation, anew: what a command changes in the copy stays out of the others' files.
   *
   * @param free called with the copy's folder, an absolute path, before what is left there is removed.
   * @throws {WorkspaceRefused} when files can't be read, or change again and again meanwhile.
   */
  copyOwn(place: WorkspacePlace, free: (folder: string) => Promise<void>): Promise<string>;

  /** Removes the copy that `copyOwn` has made, if there is any. What can't be removed stays until the next copy. */
  dropOwn(place: WorkspacePlace): Promise<void>;

  /**
   * Copies the files of a run's own folder, as they are, into that of a run that goes on from it. Does nothing when there are
   * none, or when the other run has its folder already.
   */
  takeOver(from: string, to: string, assertCurrent: () => Promise<void>): Promise<void>;

  /**
   * Returns the file at a path that may be changed, or null when there is none.
   *
   * @param options `keeps`: true to keep its content as a change does, so that the address is known before. Default false.
   */
  look(
    place: WorkspacePlace,
    path: string,
    options?: { readonly keeps?: boolean },
  ): Promise<FoundFile | null>;

  /**
   * Writes a text or bytes as the whole file at `path`, in one step. Missing folders are created. When the promise resolves, the
   * file survives a power cut. Nothing is changed when it is rejected.
   */
  write(
    place: WorkspacePlace,
    path: string,
    content: string | Uint8Array,
    terms?: ChangeTerms,
  ): Promise<ChangedFile>;

  /** Removes the file at `path`. @returns the state of the removed file. */
  remove(place: WorkspacePlace, path: string, terms?: ChangeTerms): Promise<ChangedFile>;

  /** Lists a folder and what is below it, sorted by path. @param depth Levels, from 1. */
  list(place: WorkspacePlace, path: string, depth: number): Promise<FolderListing>;

  /** Reads a file of at most `readFileBytesMax` bytes. */
  read(place: WorkspacePlace, path: string): Promise<FileContent>;

  /** Reads lines of a file of at most `scannedFileBytesMax` bytes, which is not held in memory. */
  readLines(place: WorkspacePlace, path: string, range: LineRange): Promise<FileLines>;

  /** Searches lines, sorted by path. @throws {WorkspaceRefused} also for a faulty pattern. */
  search(place: WorkspacePlace, order: SearchOrder, signal: AbortSignal): Promise<SearchResult>;
}

/** A file that can't be read or written there. The message is for a model: it holds no path of the machine. */
export class WorkspaceRefused extends Error {
  override readonly name = 'WorkspaceRefused';
}
