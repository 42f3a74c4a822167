/** Place of a workspace: the folder that a run's input names, or, when that is null, one of the run's own. */
export interface WorkspacePlace {
  readonly run_id: string;
  /** Absolute path on the worker. */
  readonly dir: string | null;
  /** The delegation that works there: in a git repository it has a copy of its own. If absent, the folder is used. */
  readonly worker?: WorkspaceWorker;
}

/** A delegation that works in a workspace. */
export interface WorkspaceWorker {
  readonly delegation_id: string;
  /** Delegations whose changes are in its copy from the start, in the order in which they are merged. */
  readonly foundations: readonly string[];
}

/** Present state of a file in a workspace. */
export interface FileState {
  /** 64 lower-case hex digits. */
  readonly sha256: string;
  readonly bytes: number;
}

/**
 * Workspaces of agents: one folder for each run. Nothing outside it is read or written, whatever a path says.
 *
 * A path follows `checkWorkspacePath`: parts joined by `/`, relative to the workspace.
 */
export interface Workspaces {
  /** Checks a folder that an input names: returns its fault with a cure, or null when it can be used. */
  findFault(dir: string): Promise<string | null>;

  /** Returns the workspace's folder on this machine, an absolute path, for a command. It is made when it is missing. */
  folderOf(place: WorkspacePlace): Promise<string>;

  /**
   * Returns the file at `path`, or null when there is none.
   *
   * @throws {WorkspaceRefused} when the path leads elsewhere or is not a file.
   */
  look(place: WorkspacePlace, path: string): Promise<FileState | null>;

  /**
   * Writes a text as the whole file at `path`, in one step. Missing folders are created. When the promise resolves, the
   * file survives a power cut.
   *
   * @param mayStill Called when everything is ready, right before the file is replaced. Its error is passed on, and the
   * file stays unchanged. If undefined, nothing is checked.
   * @throws {WorkspaceRefused} like `look`, and when the system refuses the write; nothing is changed then.
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
