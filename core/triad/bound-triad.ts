/**
 * Bounds the records of a triad that are sent with its delegation's outcome, and from there to the planner.
 *
 * Invariants:
 *   BT1. An outcome takes at most `triadBytesMax` of `core/triad-sizes.ts` for its triad, however much plan and members
 *        wrote.
 *   BT2. Omitted parts are in the reports. The fact that a point stayed disputed is never omitted.
 */
import type { TriadEnd, TriadOutcome } from '../../contracts/triad-run.ts';
import { engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';

export function boundTriad(triad: TriadOutcome): TriadOutcome {
  const { type, reason, members, phases, dissent, failure } = triad;
  const { dissentCarriedMax, triadTextCharsMax } = engineLimits;
  return {
    type,
    reason: cutText(reason, triadTextCharsMax),
    members: members.map(({ name, role, agent_id, model }) => ({
      name,
      role,
      agent_id,
      ...(model !== undefined && { model }),
    })),
    phases,
    dissent: dissent.slice(0, dissentCarriedMax),
    failure:
      failure === null
        ? null
        : { ...failure, message: cutText(failure.message, triadTextCharsMax) },
  };
}

/** Returns the parts of the outcome that the planner's decision needs. The report has every dispute. */
export function readTriadEnd({ type, phases, dissent, failure }: TriadOutcome): TriadEnd {
  const last = phases.at(-1);
  const dissent_ref = dissent.length === 0 || last === undefined ? null : last.report_ref;
  return { type, dissent_ref, failure };
}
