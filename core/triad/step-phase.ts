/**
 * Decides what follows in a phase of a triad from each finished turn (seed 000). The order of turns differs by type, in
 * `plan-*.ts`; the common part is here.
 *
 * Invariants:
 *   TP1. Every state takes every turn; one that is not outstanding changes nothing.
 *   TP2. Turns that were given together are taken together, in the order of the members, so speed changes nothing.
 *   TP3. An outdated record goes back to its member, and no part of it is kept.
 *   TP4. Every phase ends, whatever its members say: rounds are bounded, and so are the turns of each.
 *   TP5. `deliberate` and `negotiate` end with a summary, `execute` with an output; after `negotiate` and `execute` no
 *        claim is open. When everything was settled in the first round of `negotiate`, the records are the summary.
 *   TP6. A member gets only the texts that its lane allows, each once.
 *   TP7. Every owned section is done before the output.
 */
import type { Ref } from '../../contracts/ref.ts';
import type { SpecState } from '../../contracts/spec.ts';
import { findUnsettled, hasOpenClaims, versionsOf } from '../spec/read-spec.ts';
import type { SpecEvent } from '../spec/spec-events.ts';
import { stepSpec } from '../spec/step-spec.ts';
import type {
  FinishedTurn,
  PhaseState,
  PhaseStep,
  TriadSetup,
  TurnOrder,
  WaitingTurn,
  NextTurns,
} from './phase-state.ts';
import { findWriter } from './roles.ts';
import { giveTurns } from './phase-state.ts';
import { planHierarchical, planDialectic, planConsensus } from './plan-turns.ts';
import type { TriadPhase } from '../../contracts/triad.ts';

/** Begins a phase. @returns its first turns in `start`. */
export function openPhase(
  setup: TriadSetup,
  phase: TriadPhase,
  from: { readonly spec: SpecState; readonly summary_ref: Ref | null },
): PhaseStep {
  return advance({
    setup,
    phase,
    stage: 'working',
    round: setup.type === 'hierarchical' ? 0 : 1,
    // Each phase counts its own rounds; answers of another phase do not count here.
    spec: { ...from.spec, rounds: 0 },
    summary_ref: from.summary_ref,
    queue: setup.type === 'hierarchical' ? [] : setup.members.map(({ name }) => name),
    assignments: [],
    turns_given: 0,
    dispatches: 0,
    outstanding: [],
    waiting: [],
    turns: [],
    told: {},
    returned: [],
    summary: null,
    output: null,
    seen: versionsOf(from.spec),
  });
}

export function stepPhase(state: PhaseState, done: FinishedTurn): PhaseStep {
  const order = state.outstanding.find(({ turn }) => turn === done.turn);
  if (order === undefined) return { state, start: [] };
  const outstanding = state.outstanding.filter((one) => one !== order);
  const waiting = [...state.waiting, { order, done }];
  const left: PhaseState = { ...hearAtOnce(state, order, done), outstanding, waiting };
  const isTogether = (one: TurnOrder): boolean => one.dispatch === order.dispatch;
  if (outstanding.some(isTogether)) return advance(left);
  const together = inMemberOrder(
    state.setup,
    waiting.filter((one) => isTogether(one.order)),
  );
  const rest = waiting.filter((one) => !isTogether(one.order));
  return advance(together.reduce(takeTurn, { ...left, waiting: rest }));
}

/**
 * Makes a finished text of a hierarchical triad readable before its dispatch is complete: the orchestrator handles each
 * result as it arrives.
 */
function hearAtOnce(state: PhaseState, order: TurnOrder, done: FinishedTurn): PhaseState {
  return state.setup.type === 'hierarchical' ? noteTurn(state, order, done) : state;
}

function noteTurn(state: PhaseState, { turn, brief }: TurnOrder, done: FinishedTurn): PhaseState {
  const { member, round } = brief;
  const { said_ref } = done;
  return { ...state, turns: [...state.turns, { turn, member: member.name, round, said_ref }] };
}

function inMemberOrder({ members }: TriadSetup, turns: readonly WaitingTurn[]): WaitingTurn[] {
  const placeOf = ({ order }: WaitingTurn): number =>
    members.findIndex(({ name }) => name === order.brief.member.name);
  return turns.toSorted((a, b) => placeOf(a) - placeOf(b));
}

function takeTurn(state: PhaseState, { order, done }: WaitingTurn): PhaseState {
  const noted = state.setup.type === 'hierarchical' ? state : noteTurn(state, order, done);
  const taken = done.events.reduce(
    (before, event) => takeEvent(before, event, order.brief.member.name),
    noted,
  );
  return {
    ...taken,
    assignments: [...taken.assignments, ...done.assignments],
    summary: done.summary ?? taken.summary,
    output: done.output ?? taken.output,
  };
}

function takeEvent(state: PhaseState, event: SpecEvent, member: string): PhaseState {
  const { state: spec, result } = stepSpec(state.spec, event);
  if (result.ok) return { ...state, spec };
  const { fault, current_ref } = result;
  const reason = `Not taken: ${fault.reason}. ${fault.hint}.`;
  return { ...state, returned: [...state.returned, { member, reason, current_ref }] };
}

/** Starts the turns that are due now. */
function advance(state: PhaseState): PhaseStep {
  const next = planNext(state);
  switch (next.type) {
    case 'wait':
      return { state: next.state, start: [] };
    case 'give': {
      const given = giveTurns(next.state, next.drafts);
      // An orchestrator may be called while a worker is still working, and both may get turns.
      const more = advance(given.state);
      return { state: more.state, start: [...given.start, ...more.start] };
    }
    case 'worked':
      return advance(endWork(next.state));
  }
}

function planNext(state: PhaseState): NextTurns {
  if (state.stage === 'ended') return { type: 'wait', state };
  if (state.stage === 'writing') return planWriting(state);
  switch (state.setup.type) {
    case 'dialectic':
      return planDialectic(state);
    case 'consensus':
      return planConsensus(state);
    case 'hierarchical':
      return planHierarchical(state);
  }
}

/** Ends the working stage; claims that are still open stay disputed. */
function endWork(state: PhaseState): PhaseState {
  const closes = state.phase !== 'deliberate' && hasOpenClaims(state.spec);
  const spec = closes ? stepSpec(state.spec, { type: 'close' }).state : state.spec;
  return { ...state, spec, stage: 'writing', queue: [], assignments: [] };
}

/** Gives the writer its last turn, unless it has already written. */
function planWriting(state: PhaseState): NextTurns {
  if (state.outstanding.length > 0) return { type: 'wait', state };
  const { setup, phase } = state;
  const isWritten =
    phase === 'execute' ? state.output !== null : state.summary !== null || isSettledAtOnce(state);
  const writer = findWriter(setup.type, setup.members);
  if (isWritten || writer === undefined)
    return { type: 'wait', state: { ...state, stage: 'ended' } };
  const duties = phase === 'execute' ? { output: true } : { summary: true };
  return { type: 'give', state, drafts: [{ member: writer, duties }] };
}

/**
 * Returns true when a summary could only repeat the records, because every section got its owner in the first round.
 */
function isSettledAtOnce({ phase, round, spec }: PhaseState): boolean {
  return phase === 'negotiate' && round <= 1 && findUnsettled(spec).length === 0;
}
