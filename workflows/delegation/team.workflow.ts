import type { LoneOutcome } from '../../contracts/delegation-run.ts';
import type { TeamInput } from '../../contracts/team.ts';
import { execute } from './execute.ts';
import { runAlone } from '../execution/run-alone.ts';

/**
 * Runs a message for a leader and its members, started by hand with `{"message":"…","members":["researcher","writer"]}`
 * (seed 002). In a run the planner gives a delegation to a team instead.
 *
 * @throws InvalidInput with every fault at once.
 */
export async function team(input: TeamInput): Promise<LoneOutcome> {
  return runAlone('team', input, execute);
}
