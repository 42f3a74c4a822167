import type { SpecState } from '../../../contracts/spec.ts';
import { openSpec } from '../../../core/spec/read-spec.ts';
import type { SpecEvent } from '../../../core/spec/spec-events.ts';
import { stepSpec } from '../../../core/spec/step-spec.ts';
import type { TriadMember } from '../../../contracts/triad.ts';

/** The members of a dialectic triad. */
export const dialectic: readonly TriadMember[] = [
  { name: 'anna', role: 'proposer', agent_id: 'researcher' },
  { name: 'ben', role: 'critic', agent_id: 'researcher', lens: 'security', model: 'other-model' },
  { name: 'carl', role: 'synthesizer', agent_id: 'writer' },
];

/** Returns the spec after these events. Throws if one is refused. */
export function specAfter(
  sections: readonly string[],
  events: readonly SpecEvent[],
  negotiators: readonly string[] = dialectic.map(({ name }) => name),
): SpecState {
  return events.reduce(
    (spec, event) => {
      const { state, result } = stepSpec(spec, event);
      if (!result.ok) throw new Error(`${JSON.stringify(event)}: ${result.fault.reason}`);
      return state;
    },
    openSpec(sections, negotiators),
  );
}

/** A claim whose member writes the section when it is settled. */
export const claims = (
  member: string,
  section_id: string,
  proposal_ref: string,
  registered_by = member,
): SpecEvent => ({
  type: 'claim',
  member,
  registered_by,
  section_id,
  proposal_ref,
  write_later: true,
});

/** @param revision That is answered. */
export const answers = (
  member: string,
  claim_id: string,
  decision: 'CONCEDE' | 'REVISE' | 'HOLD',
  reason_ref: string,
  { revision = 1, revised_ref = null }: { revision?: number; revised_ref?: string | null } = {},
): SpecEvent => ({
  type: 'respond',
  member,
  claim_id,
  revision,
  decision,
  reason_ref,
  revised_ref,
});
