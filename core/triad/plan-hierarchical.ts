/**
 * Decides the next turns in a hierarchical triad: the orchestrator gives each turn, and handles each result as it
 * arrives (seed 000). Code only keeps the phase from ending with work undone.
 */
import type { Duties } from '../../contracts/member-turn.ts';
import type { TriadMember } from '../../contracts/triad.ts';
import { findOwed, findUnclaimed, findUnfinished, hasOpenClaims } from '../spec/read-spec.ts';
import { stepSpec } from '../spec/step-spec.ts';
import type { NextTurns, TurnDraft } from './give-turn.ts';
import type { PhaseState } from './phase-state.ts';

export function planHierarchical(state: PhaseState): NextTurns {
  const orchestrator = state.setup.members.find(({ role }) => role === 'orchestrator');
  if (orchestrator === undefined) return { type: 'worked', state };
  if (isAtWork(state, orchestrator)) return { type: 'wait', state };
  if (state.assignments.length > 0) return giveOut(state);
  const duties = dutiesOfOrchestrator(state, orchestrator);
  if (duties !== null) return { type: 'give', state, drafts: [{ member: orchestrator, duties }] };
  if (state.outstanding.length > 0) return { type: 'wait', state };
  return finishOwners(state);
}

function isAtWork({ outstanding }: PhaseState, { name }: TriadMember): boolean {
  return outstanding.some(({ brief }) => brief.member.name === name);
}

/** Gives the turns that the orchestrator assigned, as one more round of the phase. */
function giveOut(state: PhaseState): NextTurns {
  const isNegotiating = state.round > 0 && hasOpenClaims(state.spec);
  const spec = isNegotiating ? stepSpec(state.spec, { type: 'round_over' }).state : state.spec;
  const next: PhaseState = { ...state, spec, round: state.round + 1 };
  const drafts = state.assignments.flatMap(({ member: name, instruction_ref }): TurnDraft[] => {
    const member = state.setup.members.find((one) => one.name === name);
    if (member === undefined) return [];
    return [{ member, instruction_ref, duties: dutiesOfWorker(next, member) }];
  });
  return { type: 'give', state: { ...next, assignments: [] }, drafts };
}

function dutiesOfWorker({ phase, spec }: PhaseState, { name }: TriadMember): Partial<Duties> {
  return {
    answer: phase === 'deliberate' ? [] : findOwed(spec, name),
    finish: phase === 'execute' ? findUnfinished(spec, name) : [],
  };
}

/** @returns null when the orchestrator has nothing to do now. */
function dutiesOfOrchestrator(state: PhaseState, { name }: TriadMember): Partial<Duties> | null {
  const { phase, spec, turns, told, round, setup, outstanding } = state;
  const before = told[name];
  const isUndone = isLeft(state, before === undefined);
  const canGiveOut = round < setup.rounds_max;
  const isIdle = outstanding.length === 0;
  const assign = isIdle && isUndone && canGiveOut;
  const claim = phase === 'deliberate' && isIdle ? findUnclaimed(spec) : [];
  const hasNews = turns.slice(before).some((one) => one.member !== name);
  const isCalled =
    before === undefined
      ? isUndone || mayContradict(state)
      : hasNews && canChange(phase, assign, canGiveOut);
  return isCalled ? { assign, claim } : null;
}

/**
 * Returns true when the orchestrator could still change something. In a negotiation the workers answer; it only starts
 * rounds.
 */
function canChange(phase: PhaseState['phase'], assign: boolean, canGiveOut: boolean): boolean {
  if (phase === 'negotiate') return assign;
  return phase === 'deliberate' || canGiveOut;
}

/**
 * Returns true when agreed sections of both workers may contradict each other; only their orchestrator can have that
 * negotiated.
 */
function mayContradict({ phase, spec }: PhaseState): boolean {
  const owners = new Set(spec.sections.flatMap(({ owner }) => owner ?? []));
  return phase === 'execute' && owners.size > 1;
}

/** Returns true when some work is left that only a worker's turn can settle. */
function isLeft({ phase, spec, setup, returned }: PhaseState, isFirst: boolean): boolean {
  switch (phase) {
    case 'deliberate':
      // A worker learns only in a turn that its record was outdated.
      return isFirst || returned.length > 0;
    case 'negotiate':
      return hasOpenClaims(spec);
    case 'execute':
      return (
        hasOpenClaims(spec) ||
        setup.members.some(({ name }) => findUnfinished(spec, name).length > 0)
      );
  }
}

/** Gives turns to owners that were never asked to finish their sections. */
function finishOwners(state: PhaseState): NextTurns {
  if (state.phase !== 'execute') return { type: 'worked', state };
  const drafts = state.setup.members.flatMap((member): TurnDraft[] => {
    const finish = findUnfinished(state.spec, member.name);
    return finish.length === 0 ? [] : [{ member, duties: { finish } }];
  });
  return drafts.length === 0 ? { type: 'worked', state } : { type: 'give', state, drafts };
}
