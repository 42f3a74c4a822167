import type { SpecState } from '../../contracts/spec.ts';
import type { TriadPhase } from '../../contracts/triad.ts';
import type { TriadPhaseView } from '../../contracts/views.ts';
import type { PhaseState, TriadSetup } from './phase-state.ts';

/** Describes a phase for people. */
export function viewPhase(state: PhaseState, status: TriadPhaseView['state']): TriadPhaseView {
  const { setup, phase, round, outstanding, spec } = state;
  return {
    ...viewBegun(setup, phase, spec),
    state: status,
    round: Math.max(1, round),
    at_work: outstanding.map(({ brief }) => brief.member.name),
  };
}

/** Describes a phase that a delegation has started and knows no more of. */
export function viewBegun(
  { type, rounds_max }: TriadSetup,
  phase: TriadPhase,
  { sections, claims }: SpecState,
): TriadPhaseView {
  return {
    type,
    phase,
    state: 'running',
    round: 0,
    rounds_max,
    at_work: [],
    sections: sections.map(({ section_id, owner, status, version }) => ({
      section_id,
      owner,
      status,
      version,
    })),
    claims: claims.map(({ claim_id, section_id, member, revision, state }) => ({
      claim_id,
      section_id,
      member,
      revision,
      state,
    })),
  };
}
