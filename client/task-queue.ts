import { taskQueue } from '../contracts/names.ts';

/** Where the worker listens: `PLANWAVE_TASK_QUEUE`, which the worker reads too, else `planwave`. */
export function taskQueueOf(env: Readonly<Record<string, string | undefined>>): string {
  return env['PLANWAVE_TASK_QUEUE'] || taskQueue;
}
