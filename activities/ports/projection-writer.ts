/** Condition of a write. What is absent is not checked. */
export interface WriteTerms {
  /** Called when everything is ready, right before the file is replaced. Its error is passed on, and the file stays unchanged. */
  readonly mayStill?: (() => Promise<void>) | undefined;
  /** Is given the text of the file, empty when there is none. The file stays when it returns false. */
  readonly mayReplace?: ((text: string) => boolean) | undefined;
}

/**
 * Readable files about a run. They can be rebuilt from the run's record at any time and are never read back as truth.
 */
export interface ProjectionWriter {
  /**
   * Writes one text file of a run's tree in one step, replacing the old one. Missing folders are created.
   *
   * @param relativePath Segments joined by `/`, each from `projection/paths.ts`.
   * @throws {StoreUnavailable} when the file can't be written, or when a link is in its path.
   */
  write(runId: string, relativePath: string, text: string, terms?: WriteTerms): Promise<void>;

  /**
   * Removes one file of a run's tree. A missing file is no error.
   *
   * @param mayGo Is given the text of the file, which stays when it returns false. If undefined, every text may go.
   * @throws {StoreUnavailable} when the file can't be removed, or when a link is in its path.
   */
  remove(runId: string, relativePath: string, mayGo?: (text: string) => boolean): Promise<void>;

  /** Returns the run's folder below the artifact home, for people. */
  rootOf(runId: string): string;
}
