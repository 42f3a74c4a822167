/** Describes the delegations of a wave for people. */
import type { DelegationState } from '../../contracts/views.ts';
import { decideGate } from '../gate/decide-gate.ts';
import type { GateWorld } from '../gate/decide-gate.ts';
import { buildWorld, countRunning } from './step-dispatch.ts';
import type { DispatchEntry, DispatchState } from './step-dispatch.ts';

/** State of one delegation, for people. */
export interface DispatchLine {
  readonly delegation_id: string;
  readonly state: DelegationState;
  /** Missing inputs with their producers, or the cause of its end. Empty while it works. */
  readonly reason: string;
}

export function viewDispatch(state: DispatchState): DispatchLine[] {
  const world = buildWorld(state);
  const slots = `a free slot (${countRunning(state)} of ${state.max_parallel} at work)`;
  return state.entries.map((entry) => ({
    delegation_id: entry.delegation.delegation_id,
    state: entry.state,
    reason: describeEntry(entry, state, world) ?? slots,
  }));
}

/** @returns null for a delegation that waits only for a free slot. */
function describeEntry(
  entry: DispatchEntry,
  state: DispatchState,
  world: GateWorld,
): string | null {
  if ('reason' in entry) return entry.reason;
  if (entry.state === 'running') return '';
  if (entry.state === 'waiting') return 'answers to its questions';
  if (entry.state === 'pending') {
    const gate = decideGate(entry.delegation, world);
    if (gate.type === 'closed') return gate.waiting_for.join('; ');
    if (gate.type === 'impossible') return gate.reason;
  }
  if (state.type === 'paused') return 'the run to be resumed';
  if (state.type === 'stopping') return 'its end: the run is being stopped';
  return null;
}
