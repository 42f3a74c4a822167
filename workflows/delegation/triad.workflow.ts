import type { LoneOutcome } from '../../contracts/delegation-run.ts';
import type { TriadInput } from '../../contracts/triad.ts';
import { execute } from './execute.ts';
import { runAlone } from '../execution/run-alone.ts';

/**
 * Runs one task for three members, started by hand with `{"type":"dialectic","task":"…"}` (seed 000). In a run the
 * planner gives a delegation to a triad instead.
 *
 * @throws InvalidInput with every fault at once.
 */
export async function triad(input: TriadInput): Promise<LoneOutcome> {
  return runAlone('triad', input, execute);
}
