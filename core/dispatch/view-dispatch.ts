/** Where the delegations of a wave stand, for people. */
import type { DelegationState } from '../../contracts/views.ts';
import { decideGate } from '../gate/decide-gate.ts';
import type { GateWorld } from '../gate/decide-gate.ts';
import { buildWorld, countRunning } from './step-dispatch.ts';
import type { DispatchEntry, DispatchState } from './step-dispatch.ts';

/** Where one delegation stands, for people. */
export interface DispatchLine {
  readonly delegation_id: string;
  readonly state: DelegationState;
  /** What it waits for and who will produce it, or why it ended. Empty when it works. */
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

/** @returns null for one that waits for nothing but a free slot. */
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
