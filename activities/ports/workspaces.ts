/** Which workspace: the folder that a run's input names, or, when that is null, one of the run's own. */
export interface WorkspacePlace {
  readonly run_id: string;
  /** Absolute, as the worker sees it. */
  readonly dir: string | null;
}

/** A file as it stands in a workspace. */
export interface FileState {
  /** 64 lower-case hex digits. */
  readonly sha256: string;
  readonly bytes: number;
}

/**
 * Where agents put files: a folder for each run. Nothing outside it is read or written, whatever a path says.
 *
 * A path is `checkWorkspacePath`'s: parts joined by `/`, relative to the workspace.
 */
export interface Workspaces {
  /** What is wrong with a folder that somebody named for a run, with a cure; null when it can be used. */
  findFault(dir: string): Promise<string | null>;

  /**
   * The file at `path`, or null when there is none.
   *
   * @throws {WorkspaceRefused} when the path leads elsewhere or something other than a file stands there.
   */
  look(place: WorkspacePlace, path: string): Promise<FileState | null>;

  /**
   * Writes a text as the whole file at `path`, in one step, replacing what was there. Folders on the way are made. When
   * the promise resolves, the file survives a power cut.
   *
   * @param mayStill asked when all is ready, right before the file is replaced. What it throws is thrown, and the file is as
   *   it was. If undefined, nobody is asked.
   * @throws {WorkspaceRefused} as `look`, and when the system does not let it be written; nothing is changed then.
   */
  write(
    place: WorkspacePlace,
    path: string,
    text: string,
    mayStill?: () => Promise<void>,
  ): Promise<FileState>;
}

/** A file that can't be read or written there. The message is for a model: it holds no path of the machine. */
export class WorkspaceRefused extends Error {
  override readonly name = 'WorkspaceRefused';
}
