import type { DelegationOrder, DelegationOutcome } from '../../contracts/delegation-run.ts';
import { runTriad } from '../triad/run-triad.ts';
import { runDelegation } from './run-delegation.ts';
import type { CarriedDelegation, DelegationDesk } from './run-delegation.ts';

/** Has a delegation done by its executor: one agent, or three members. */
export function carryOut(
  order: DelegationOrder,
  desk: DelegationDesk,
  carried: CarriedDelegation | null,
): Promise<DelegationOutcome> {
  const { triad } = order.delegation;
  return triad === undefined ? runDelegation(order, desk, carried) : runTriad(order, triad, desk);
}
