/**
 * Decides the next turn in a dialectic triad: one member after the other, in fixed roles (seed 000).
 *
 * Invariants:
 *   DI1. No member has a turn without something to propose, answer, finish or judge.
 *   DI2. The critic judges every text that was written or changed in `execute`, after the last change to it.
 */
import type { Duties } from '../../contracts/member-turn.ts';
import type { TriadMember, TriadRole } from '../../contracts/triad.ts';
import {
  findClaim,
  findOwed,
  findUnclaimed,
  findUnfinished,
  hasOpenClaims,
  outputClaimId,
  versionsOf,
} from '../spec/read-spec.ts';
import { stepSpec } from '../spec/step-spec.ts';
import type { NextTurns } from './give-turn.ts';
import type { PhaseState } from './phase-state.ts';

/**
 * Order of roles. In `negotiate` the critic comes first, because most claims are the proposer's own; in `execute` it
 * judges the others' texts.
 */
const order: Readonly<Record<PhaseState['phase'], readonly TriadRole[]>> = {
  deliberate: ['proposer', 'critic'],
  negotiate: ['critic', 'proposer', 'synthesizer'],
  execute: ['proposer', 'synthesizer', 'critic'],
};

export function planDialectic(state: PhaseState): NextTurns {
  if (state.outstanding.length > 0) return { type: 'wait', state };
  for (const role of order[state.phase]) {
    const member = state.setup.members.find((one) => one.role === role);
    if (member === undefined || !state.queue.includes(member.name)) continue;
    const duties = dutiesOf(state, member);
    if (duties === null) continue;
    const given = pass(state, role);
    const seen = role === 'critic' ? versionsOf(state.spec) : state.seen;
    return { type: 'give', state: { ...given, seen }, drafts: [{ member, duties }] };
  }
  return endRound(state);
}

/** Removes the roles before this one from the round, because they have nothing to do in it. */
function pass(state: PhaseState, role: TriadRole): PhaseState {
  const roles = order[state.phase];
  const passed = roles.slice(0, roles.indexOf(role));
  const roleOf = (name: string): TriadRole | undefined =>
    state.setup.members.find((one) => one.name === name)?.role;
  return {
    ...state,
    queue: state.queue.filter((name) => !passed.some((one) => one === roleOf(name))),
  };
}

/** @returns null when the member has nothing to do in this round. */
function dutiesOf(state: PhaseState, { name, role }: TriadMember): Partial<Duties> | null {
  const { phase, spec } = state;
  const answer = findOwed(spec, name);
  switch (phase) {
    case 'deliberate':
      return role === 'critic'
        ? { check: spec.sections.map(({ section_id }) => section_id) }
        : { claim: findUnclaimed(spec) };
    case 'negotiate':
      return answer.length === 0 ? null : { answer, summary: role === 'synthesizer' };
    case 'execute': {
      const finish = findUnfinished(spec, name);
      const check = role === 'critic' ? findUnseen(state) : [];
      return answer.length + finish.length + check.length === 0 ? null : { answer, finish, check };
    }
  }
}

/** Returns section_ids whose text the critic has not seen. A text that it negotiated is known to it. */
function findUnseen({ spec, seen }: PhaseState): string[] {
  return spec.sections
    .filter(({ section_id, version }) => version !== seen[section_id])
    .map(({ section_id }) => section_id)
    .filter((id) => findClaim(spec, outputClaimId(id)) === undefined);
}

function endRound(state: PhaseState): NextTurns {
  if (state.phase === 'deliberate') return { type: 'worked', state };
  const spec = stepSpec(state.spec, { type: 'round_over' }).state;
  if (!hasOpenClaims(spec) || state.round >= state.setup.rounds_max) {
    return { type: 'worked', state: { ...state, spec } };
  }
  const queue = state.setup.members.map(({ name }) => name);
  return planDialectic({ ...state, spec, round: state.round + 1, queue });
}
