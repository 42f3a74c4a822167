/**
 * Where people read how a run stands. What is written here can be rebuilt from the run's record at any time and is never
 * read back as truth.
 */
export interface ProjectionWriter {
  /**
   * Writes one text file of a run's tree in one step, replacing what was there. Folders on the way are made.
   *
   * @param relativePath segments joined by `/`, each from `projection/paths.ts`.
   * @param mayStill asked when all is ready, right before the file is replaced. What it throws is thrown, and the file is as
   *   it was. If undefined, nobody is asked.
   * @throws {StoreUnavailable} when the file can't be written, or when a link stands in its way.
   */
  write(
    runId: string,
    relativePath: string,
    text: string,
    mayStill?: () => Promise<void>,
  ): Promise<void>;

  /**
   * Removes one file of a run's tree. A file that is not there is no error.
   *
   * @throws {StoreUnavailable} when the file can't be removed, or when a link stands in its way.
   */
  remove(runId: string, relativePath: string): Promise<void>;

  /** The run's folder below the artifact home, for people. */
  rootOf(runId: string): string;
}
