/** Decides the next turns in a consensus: all peers at once, blind in the first round, round by round (seed 000). */
import type { Duties } from '../../contracts/member-turn.ts';
import type { TriadMember } from '../../contracts/triad.ts';
import { findOwed, findUnclaimed, findUnfinished, hasOpenClaims } from '../spec/read-spec.ts';
import { stepSpec } from '../spec/step-spec.ts';
import type { NextTurns, TurnDraft } from './give-turn.ts';
import type { PhaseState } from './phase-state.ts';

export function planConsensus(state: PhaseState): NextTurns {
  if (state.outstanding.length > 0) return { type: 'wait', state };
  const { members } = state.setup;
  const drafts = members.flatMap((member, place): TurnDraft[] => {
    if (!state.queue.includes(member.name)) return [];
    const duties = dutiesOf(state, member, place);
    return duties === null ? [] : [{ member, duties }];
  });
  if (drafts.length > 0) return { type: 'give', state: { ...state, queue: [] }, drafts };
  return endRound(state);
}

/** @returns null when the member has nothing to do in this round. */
function dutiesOf(state: PhaseState, { name }: TriadMember, place: number): Partial<Duties> | null {
  const { phase, spec, round, setup } = state;
  switch (phase) {
    case 'deliberate': {
      const isLast = round >= setup.rounds_max;
      if (round === 1 && !isLast) return { claims_min: Math.min(1, findUnclaimed(spec).length) };
      // Sections that no member claimed are distributed.
      const claim = findUnclaimed(spec).filter((_, at) => at % setup.members.length === place);
      return claim.length > 0 || hasReturned(state, name) ? { claim } : null;
    }
    case 'negotiate': {
      const answer = findOwed(spec, name);
      return answer.length === 0 ? null : { answer };
    }
    case 'execute': {
      const finish = findUnfinished(spec, name);
      return finish.length === 0 ? null : { finish };
    }
  }
}

function hasReturned({ returned }: PhaseState, name: string): boolean {
  return returned.some(({ member }) => member === name);
}

function endRound(state: PhaseState): NextTurns {
  const { phase, setup, round } = state;
  const isOver =
    phase === 'negotiate' ? stepSpec(state.spec, { type: 'round_over' }).state : state.spec;
  const ended: PhaseState = { ...state, spec: isOver };
  if (round >= setup.rounds_max || !isLeft(ended)) return { type: 'worked', state: ended };
  const queue = setup.members.map(({ name }) => name);
  return planConsensus({ ...ended, round: round + 1, queue });
}

function isLeft(state: PhaseState): boolean {
  switch (state.phase) {
    case 'deliberate':
      return findUnclaimed(state.spec).length > 0 || state.returned.length > 0;
    case 'negotiate':
      return hasOpenClaims(state.spec);
    case 'execute':
      return false;
  }
}
