import type { TriadOutline } from '../../contracts/triad.ts';
import { defaultTriad } from '../limits.ts';
import type { TriadSetup } from './phase-state.ts';

/** Fills in what the plan left out. */
export function resolveTriad(triad: TriadOutline): TriadSetup {
  const { type, reason, members, rounds_max, sections, timeouts } = triad;
  return {
    type,
    reason,
    members,
    rounds_max: rounds_max ?? defaultTriad.rounds_max,
    section_ids: sections.map(({ section_id }) => section_id),
    timeouts: {
      turn_seconds: timeouts?.turn_seconds ?? defaultTriad.turn_seconds,
      dispatch_seconds: timeouts?.dispatch_seconds ?? defaultTriad.dispatch_seconds,
      round_seconds: timeouts?.round_seconds ?? defaultTriad.round_seconds,
      phase_seconds: timeouts?.phase_seconds ?? defaultTriad.phase_seconds,
    },
  };
}
