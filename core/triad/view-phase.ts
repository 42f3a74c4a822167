import type { TriadPhaseView } from '../../contracts/views.ts';
import type { PhaseState } from './phase-state.ts';

/** What people see of a phase. */
export function viewPhase(state: PhaseState, status: TriadPhaseView['state']): TriadPhaseView {
  const { setup, phase, round, outstanding, spec } = state;
  return {
    type: setup.type,
    phase,
    state: status,
    round: Math.max(1, round),
    rounds_max: setup.rounds_max,
    at_work: outstanding.map(({ brief }) => brief.member.name),
    sections: spec.sections.map(({ section_id, owner, status: state_, version }) => ({
      section_id,
      owner,
      status: state_,
      version,
    })),
    claims: spec.claims.map(({ claim_id, section_id, member, revision, state: state_ }) => ({
      claim_id,
      section_id,
      member,
      revision,
      state: state_,
    })),
  };
}
