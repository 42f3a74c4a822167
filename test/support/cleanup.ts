/**
 * Work that a support module leaves for the end of a test or a file. Modules stay loaded for several files, so a hook at the
 * top of one would belong to the first file only; `each-file.ts` calls these for every file.
 */
type Task = () => unknown;

const ofTest: Task[] = [];
const ofFile: Task[] = [];

/** Calls the task once, after the test that runs. */
export function atTestEnd(task: Task): void {
  ofTest.push(task);
}

/** Calls the task once, after the last test of the file. */
export function atFileEnd(task: Task): void {
  ofFile.push(task);
}

export const endTest = (): Promise<void> => end(ofTest);
export const endFile = (): Promise<void> => end(ofFile);

/** Calls all tasks, the newest first. @throws the first error, after all of them. */
async function end(tasks: Task[]): Promise<void> {
  const faults: unknown[] = [];
  for (const task of tasks.splice(0).toReversed()) {
    // One after the other.
    // oxlint-disable-next-line no-await-in-loop
    await Promise.resolve(task()).catch((error: unknown) => faults.push(error));
  }
  if (faults.length > 0) throw faults[0];
}
