import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { TeamOutcome } from '../../contracts/team-run.ts';
import type { TriadOutcome } from '../../contracts/triad-run.ts';

/** Reads the work of a team; undefined for another executor, and where the team never began. */
export function teamOf(
  done: Pick<DelegationOutcome, 'executor'> | undefined,
): TeamOutcome | undefined {
  return done?.executor.kind === 'team' ? (done.executor.work ?? undefined) : undefined;
}

/** Reads the work of a triad; undefined for another executor, and where the triad never began. */
export function triadOf(
  done: Pick<DelegationOutcome, 'executor'> | undefined,
): TriadOutcome | undefined {
  return done?.executor.kind === 'triad' ? (done.executor.work ?? undefined) : undefined;
}
