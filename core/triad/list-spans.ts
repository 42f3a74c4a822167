/**
 * Time limits of a triad's phase.
 *
 * Invariants:
 *   LS1. Limits apply to the phase, its round, each dispatch and each running turn.
 *   LS2. A timeout names its limit and every member that was working.
 */
import type { TriadTimeouts } from '../../contracts/triad.ts';
import { listNames } from '../text/list-names.ts';
import type { Deadline, Timeouts, WorkSpan } from '../time/work-clock.ts';

export type TriadLimit = keyof TriadTimeouts;

/** A running turn. */
export interface TurnSpan {
  readonly member: string;
  readonly since_ms: number;
  /** Equal for turns that were given together. */
  readonly dispatch: number;
}

/** @param turns Turns in the order in which they were given. */
export function listSpans(
  phaseSinceMs: number,
  roundSinceMs: number,
  turns: readonly TurnSpan[],
): WorkSpan<TriadLimit>[] {
  const at_work = turns.map(({ member }) => member);
  const dispatches = [...new Set(turns.map(({ dispatch }) => dispatch))];
  return [
    ...turns.map(({ member, since_ms }) => ({
      limit: 'turn_seconds' as const,
      since_ms,
      at_work: [member],
    })),
    ...dispatches.map((dispatch) => {
      const together = turns.filter((turn) => turn.dispatch === dispatch);
      return {
        limit: 'dispatch_seconds' as const,
        since_ms: Math.min(...together.map(({ since_ms }) => since_ms)),
        at_work: together.map(({ member }) => member),
      };
    }),
    { limit: 'round_seconds', since_ms: roundSinceMs, at_work },
    { limit: 'phase_seconds', since_ms: phaseSinceMs, at_work },
  ];
}

/** Returns `2700 s for one dispatch (dispatch_seconds) are over. At work: mason, clerk.` */
export function describeTimeout(
  { span }: Deadline<TriadLimit>,
  timeouts: Timeouts<TriadLimit>,
): string {
  const { limit, at_work } = span;
  const names = at_work.length === 0 ? 'nobody' : listNames(at_work);
  return `${timeouts[limit]} s for one ${limit.replace('_seconds', '')} (${limit}) are over. At work: ${names}.`;
}
