import type { TriadOutline } from '../../contracts/triad.ts';
import type { TriadSetup } from './phase-state.ts';

/** Fills in what the plan left out. */
export function resolveTriad(_triad: TriadOutline): TriadSetup {
  throw new Error('not built');
}
