import { runRehearsal } from '../rehearsal/server/main.ts';
import { announceReady } from './parts/part.ts';

/** `npm run rehearsal`: the rehearsal model alone, until Ctrl-C. It reads `PLANWAVE_REHEARSAL_*` and ends the process. */
export async function main(): Promise<number> {
  await runRehearsal();
  console.log('Ctrl-C stops it.');
  announceReady();
  return new Promise<number>(() => {});
}
