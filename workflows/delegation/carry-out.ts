import type { DelegationOrder, DelegationOutcome } from '../../contracts/delegation-run.ts';
import { runTeam } from '../team/run-team.ts';
import { runTriad } from '../triad/run-triad.ts';
import { runDelegation } from './run-delegation.ts';
import type { CarriedWork, DelegationDesk } from './run-delegation.ts';

/** Runs a delegation with its executor: one agent, three members of a triad, or a team under its leader. */
export function carryOut(
  order: DelegationOrder,
  desk: DelegationDesk,
  carried: CarriedWork | null,
): Promise<DelegationOutcome> {
  const { triad, team } = order.delegation;
  if (triad !== undefined) return runTriad(order, triad, desk);
  const isTeams = carried !== null && 'state' in carried;
  if (team === undefined) return runDelegation(order, desk, isTeams ? null : carried);
  return runTeam(order, desk, isTeams ? carried : null, carryOut);
}
