/**
 * Who is next in a dialectic triad: one after the other, in roles that never change (seed 000).
 */
import type { Duties } from '../../contracts/member-turn.ts';
import type { TriadMember, TriadRole } from '../../contracts/triad.ts';
import { findOwed, findUnclaimed, findUnfinished, hasOpenClaims } from '../spec/read-spec.ts';
import { stepSpec } from '../spec/step-spec.ts';
import type { NextTurns } from './next-turns.ts';
import type { PhaseState } from './phase-state.ts';

/** In `negotiate` the critic is asked first: most claims are the proposer's own. */
const order: Readonly<Record<PhaseState['phase'], readonly TriadRole[]>> = {
  deliberate: ['proposer', 'critic'],
  negotiate: ['critic', 'proposer', 'synthesizer'],
  execute: ['proposer', 'critic'],
};

export function planDialectic(state: PhaseState): NextTurns {
  if (state.outstanding.length > 0) return { type: 'wait', state };
  for (const role of order[state.phase]) {
    const member = state.setup.members.find((one) => one.role === role);
    if (member === undefined || !state.queue.includes(member.name)) continue;
    const duties = dutiesOf(state, member);
    if (duties !== null)
      return { type: 'give', state: pass(state, role), drafts: [{ member, duties }] };
  }
  return endRound(state);
}

/** Whoever stands before this role in the round has nothing to do in it. */
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
function dutiesOf(
  { phase, spec }: PhaseState,
  { name, role }: TriadMember,
): Partial<Duties> | null {
  if (phase === 'negotiate') {
    const answer = findOwed(spec, name);
    return answer.length === 0 ? null : { answer, summary: role === 'synthesizer' };
  }
  if (role === 'critic') return {};
  if (phase === 'deliberate') return { claim: findUnclaimed(spec) };
  const finish = findUnfinished(spec, name);
  return finish.length === 0 ? null : { finish };
}

function endRound(state: PhaseState): NextTurns {
  if (state.phase !== 'negotiate') return { type: 'worked', state };
  const spec = stepSpec(state.spec, { type: 'round_over' }).state;
  if (!hasOpenClaims(spec) || state.round >= state.setup.rounds_max) {
    return { type: 'worked', state: { ...state, spec } };
  }
  const queue = state.setup.members.map(({ name }) => name);
  return planDialectic({ ...state, spec, round: state.round + 1, queue });
}
