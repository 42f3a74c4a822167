/**
 * Decides which delegation of a wave starts, resumes or is skipped, and when.
 *
 * Invariants:
 *   D1. Never more than `max_parallel` delegations run at the same time.
 *   D2. A delegation starts in the step in which its last dependency is met and a slot is free, not later.
 *   D3. A delegation starts at most once, and only when its gate is open.
 *   D4. Resumed delegations go before new ones; within each group the plan's order holds.
 *   D5. A delegation that waits for answers holds no slot.
 *   D6. While paused, nothing starts or resumes; once stopped, nothing ever does, and pending delegations are stopped.
 *   D7. A delegation that can't start any more is skipped with the reason, and so are its dependents.
 *   D8. An event that does not fit the state changes nothing and commands nothing.
 *   D9. When every started delegation has ended, the dispatch is done: nothing waits for ever, not even in a cycle.
 */
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { DelegationState } from '../../contracts/views.ts';
import { decideGate, hasEnded } from '../gate/decide-gate.ts';
import type { GateWorld } from '../gate/decide-gate.ts';

type ActiveState = 'pending' | 'running' | 'waiting' | 'resuming';

/** One delegation in the dispatch. */
export type DispatchEntry =
  | {
      readonly state: ActiveState;
      readonly delegation: DelegationOutline;
    }
  | {
      readonly state: 'completed' | 'failed' | 'skipped' | 'stopped';
      readonly delegation: DelegationOutline;
      /** True when a criterion of its output is unmet. */
      readonly leaves_unmet: boolean;
      /** Cause of its end. Empty when it completed. */
      readonly reason: string;
    };

interface DispatchBody {
  /** Listed in plan order. */
  readonly entries: readonly DispatchEntry[];
  readonly known_inputs: readonly string[];
  readonly max_parallel: number;
}

export type DispatchState =
  | (DispatchBody & { readonly type: 'dispatching' })
  | (DispatchBody & { readonly type: 'paused' })
  /** Final: nothing starts any more. */
  | (DispatchBody & { readonly type: 'stopping' });

export type DispatchEvent =
  /** The delegation asked a question and waits; its slot is free. */
  | { readonly type: 'asked'; readonly delegation_id: string }
  /** The answers have arrived. */
  | { readonly type: 'answered'; readonly delegation_id: string }
  | { readonly type: 'ended'; readonly outcome: DelegationOutcome }
  | { readonly type: 'pause' }
  | { readonly type: 'resume' }
  /** Nothing more starts; running delegations go on to their end. */
  | { readonly type: 'halt'; readonly reason: string }
  | { readonly type: 'stop' };

export type DispatchCommand =
  | { readonly type: 'start'; readonly delegation_id: string }
  | { readonly type: 'resume'; readonly delegation_id: string }
  | { readonly type: 'skip'; readonly delegation_id: string; readonly reason: string };

export interface DispatchStep {
  readonly state: DispatchState;
  readonly commands: readonly DispatchCommand[];
}

export interface DispatchOptions {
  readonly known_inputs: readonly string[];
  readonly max_parallel: number;
  readonly paused: boolean;
}

export function openDispatch(
  delegations: readonly DelegationOutline[],
  options: DispatchOptions,
): DispatchStep {
  return settle({
    type: options.paused ? 'paused' : 'dispatching',
    entries: delegations.map((delegation) => ({ state: 'pending', delegation })),
    known_inputs: options.known_inputs,
    // Below 1 nothing would ever start.
    max_parallel: Math.max(1, options.max_parallel),
  });
}

export function stepDispatch(state: DispatchState, event: DispatchEvent): DispatchStep {
  if (event.type === 'halt') return halt(state, event.reason);
  const next = applyEvent(state, event);
  return next === state ? { state, commands: [] } : settle(next);
}

export function isDispatchDone(state: DispatchState): boolean {
  return state.entries.every((entry) => hasEnded(entry.state));
}

/** @returns the same object when the event does not fit the state. */
function applyEvent(
  state: DispatchState,
  event: Exclude<DispatchEvent, { type: 'halt' }>,
): DispatchState {
  switch (event.type) {
    case 'asked':
      return moveEntry(state, event.delegation_id, ['running'], 'waiting');
    case 'answered':
      return moveEntry(state, event.delegation_id, ['waiting'], 'resuming');
    case 'ended':
      return endEntry(state, event.outcome);
    case 'pause':
      return state.type === 'dispatching' ? { ...state, type: 'paused' } : state;
    case 'resume':
      return state.type === 'paused' ? { ...state, type: 'dispatching' } : state;
    case 'stop':
      return state.type === 'stopping' ? state : stopPending(state);
    default:
      return state;
  }
}

function moveEntry(
  state: DispatchState,
  id: string,
  from: readonly DelegationState[],
  to: ActiveState,
): DispatchState {
  const fits = (entry: DispatchEntry): boolean =>
    entry.delegation.delegation_id === id && from.includes(entry.state);
  if (!state.entries.some(fits)) return state;
  return {
    ...state,
    entries: state.entries.map((entry) =>
      fits(entry) ? { state: to, delegation: entry.delegation } : entry,
    ),
  };
}

/** Ends a delegation that was started. One that never started can't end, and one that has ended keeps its end. */
function endEntry(state: DispatchState, outcome: DelegationOutcome): DispatchState {
  const fits = (entry: DispatchEntry): boolean =>
    entry.delegation.delegation_id === outcome.delegation_id &&
    entry.state !== 'pending' &&
    !hasEnded(entry.state);
  if (!state.entries.some(fits)) return state;
  return {
    ...state,
    entries: state.entries.map((entry) =>
      fits(entry)
        ? {
            state: outcome.status,
            delegation: entry.delegation,
            leaves_unmet: outcome.criteria_unmet.length > 0,
            reason: outcome.reason,
          }
        : entry,
    ),
  };
}

function stopPending(state: DispatchState): DispatchState {
  return {
    ...state,
    type: 'stopping',
    entries: state.entries.map((entry) =>
      entry.state === 'pending'
        ? endUnstarted(entry.delegation, 'stopped', 'stopped before it started')
        : entry,
    ),
  };
}

/** Skips all pending delegations; nothing else changes, so nothing else follows. */
function halt(state: DispatchState, reason: string): DispatchStep {
  const pending = state.entries.filter((entry) => entry.state === 'pending');
  return skip(state, new Map(pending.map((entry) => [entry, reason])));
}

/** Skips delegations that can't start any more, then fills the free slots. */
function settle(state: DispatchState): DispatchStep {
  const commands: DispatchCommand[] = [];
  const skipped = skipImpossible(state, commands);
  const settled = state.type === 'dispatching' ? fillSlots(skipped, commands) : skipped;
  return { state: settled, commands };
}

/** Repeats until nothing changes, because each skip can make others impossible. */
function skipImpossible(state: DispatchState, commands: DispatchCommand[]): DispatchState {
  let current = state;
  for (;;) {
    const reasons = findImpossible(current);
    if (reasons.size === 0) return current;
    const skipped = skip(current, reasons);
    commands.push(...skipped.commands);
    current = skipped.state;
  }
}

function skip(state: DispatchState, reasons: ReadonlyMap<DispatchEntry, string>): DispatchStep {
  if (reasons.size === 0) return { state, commands: [] };
  const commands: DispatchCommand[] = [];
  const entries = state.entries.map((entry): DispatchEntry => {
    const reason = reasons.get(entry);
    if (reason === undefined) return entry;
    const { delegation } = entry;
    commands.push({ type: 'skip', delegation_id: delegation.delegation_id, reason });
    return endUnstarted(delegation, 'skipped', reason);
  });
  return { state: { ...state, entries }, commands };
}

function findImpossible(state: DispatchState): Map<DispatchEntry, string> {
  const world = buildWorld(state);
  const pending = state.entries.filter((entry) => entry.state === 'pending');
  const gates = pending.map((entry) => ({ entry, gate: decideGate(entry.delegation, world) }));
  const reasons = new Map<DispatchEntry, string>();
  for (const { entry, gate } of gates) {
    if (gate.type === 'impossible') reasons.set(entry, gate.reason);
  }
  if (reasons.size > 0) return reasons;
  // A plan without cycles never gets here; one with a cycle must not wait for ever.
  const isStuck =
    gates.every(({ gate }) => gate.type === 'closed') &&
    state.entries.every((entry) => entry.state === 'pending' || hasEnded(entry.state));
  if (!isStuck) return reasons;
  return new Map(pending.map((entry) => [entry, 'its dependencies form a cycle']));
}

function fillSlots(state: DispatchState, commands: DispatchCommand[]): DispatchState {
  const world = buildWorld(state);
  let free = state.max_parallel - countRunning(state);
  const chosen = new Set<DispatchEntry>();
  const choose = (entry: DispatchEntry, type: 'start' | 'resume'): void => {
    free -= 1;
    chosen.add(entry);
    commands.push({ type, delegation_id: entry.delegation.delegation_id });
  };
  for (const entry of state.entries) {
    if (entry.state === 'resuming' && free > 0) choose(entry, 'resume');
  }
  for (const entry of state.entries) {
    if (entry.state !== 'pending' || free <= 0) continue;
    if (decideGate(entry.delegation, world).type === 'open') choose(entry, 'start');
  }
  return {
    ...state,
    entries: state.entries.map((entry) =>
      chosen.has(entry) ? { state: 'running', delegation: entry.delegation } : entry,
    ),
  };
}

export function buildWorld(state: DispatchState): GateWorld {
  return {
    known_inputs: new Set(state.known_inputs),
    delegations: new Map(
      state.entries.map((entry) => [
        entry.delegation.delegation_id,
        {
          state: entry.state,
          leaves_unmet: 'leaves_unmet' in entry && entry.leaves_unmet,
          produces: entry.delegation.produces,
        },
      ]),
    ),
  };
}

function endUnstarted(
  delegation: DelegationOutline,
  state: 'skipped' | 'stopped',
  reason: string,
): DispatchEntry {
  return { state, delegation, leaves_unmet: true, reason };
}

export function isRunning(state: DispatchState, delegationId: string): boolean {
  return state.entries.some(
    (entry) => entry.state === 'running' && entry.delegation.delegation_id === delegationId,
  );
}

export function countRunning(state: DispatchState): number {
  return state.entries.filter((entry) => entry.state === 'running').length;
}
