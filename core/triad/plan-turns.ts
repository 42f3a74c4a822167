/**
 * Decides the next turns in a hierarchical triad: the orchestrator gives each turn, and handles each result as it
 * arrives (seed 000). Code only keeps the phase from ending with work undone.
 */
import {
  findOwed,
  findUnclaimed,
  findUnfinished,
  hasOpenClaims,
  findClaim,
  outputClaimId,
  versionsOf,
} from '../spec/read-spec.ts';
import { stepSpec } from '../spec/step-spec.ts';
import type { PhaseState, NextTurns, TurnDraft } from './phase-state.ts';
import type { TriadMember, TriadRole } from '../../contracts/triad.ts';
import type { Duties } from '../../contracts/state-call.ts';

export function planHierarchical(state: PhaseState): NextTurns {
  const orchestrator = state.setup.members.find(({ role }) => role === 'orchestrator');
  if (orchestrator === undefined) return { type: 'worked', state };
  if (state.outstanding.some(({ brief }) => brief.member.name === orchestrator.name))
    return { type: 'wait', state };
  if (state.assignments.length > 0) return giveOut(state);
  const duties = dutiesOfOrchestrator(state, orchestrator);
  if (duties !== null) return { type: 'give', state, drafts: [{ member: orchestrator, duties }] };
  if (state.outstanding.length > 0) return { type: 'wait', state };
  return finishOwners(state);
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

/**
 * Decides the next turn in a dialectic triad: one member after the other, in fixed roles (seed 000).
 *
 * Invariants:
 *   DI1. No member has a turn without something to propose, answer, finish or judge.
 *   DI2. The critic judges every text that was written or changed in `execute`, after the last change to it.
 */

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

/** Decides the next turns in a consensus: all peers at once, blind in the first round, round by round (seed 000). */

export function planConsensus(state: PhaseState): NextTurns {
  if (state.outstanding.length > 0) return { type: 'wait', state };
  const { members } = state.setup;
  const drafts = members.flatMap((member, place): TurnDraft[] => {
    if (!state.queue.includes(member.name)) return [];
    const duties = dutiesOfPeer(state, member, place);
    return duties === null ? [] : [{ member, duties }];
  });
  if (drafts.length > 0) return { type: 'give', state: { ...state, queue: [] }, drafts };
  return endPeerRound(state);
}

/** @returns null when the member has nothing to do in this round. */
function dutiesOfPeer(
  state: PhaseState,
  { name }: TriadMember,
  place: number,
): Partial<Duties> | null {
  const { phase, spec, round, setup } = state;
  switch (phase) {
    case 'deliberate': {
      const isLast = round >= setup.rounds_max;
      if (round === 1 && !isLast) return { claims_min: Math.min(1, findUnclaimed(spec).length) };
      // Sections that no member claimed are distributed.
      const claim = findUnclaimed(spec).filter((_, at) => at % setup.members.length === place);
      return claim.length > 0 || state.returned.some(({ member }) => member === name)
        ? { claim }
        : null;
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

function endPeerRound(state: PhaseState): NextTurns {
  const { phase, setup, round } = state;
  const isOver =
    phase === 'negotiate' ? stepSpec(state.spec, { type: 'round_over' }).state : state.spec;
  const ended: PhaseState = { ...state, spec: isOver };
  if (round >= setup.rounds_max || !hasWorkForPeers(ended)) return { type: 'worked', state: ended };
  const queue = setup.members.map(({ name }) => name);
  return planConsensus({ ...ended, round: round + 1, queue });
}

function hasWorkForPeers(state: PhaseState): boolean {
  switch (state.phase) {
    case 'deliberate':
      return findUnclaimed(state.spec).length > 0 || state.returned.length > 0;
    case 'negotiate':
      return hasOpenClaims(state.spec);
    case 'execute':
      return false;
  }
}
