import type { Ref } from '../../contracts/ref.ts';
import type { SpecState } from '../../contracts/spec.ts';
import type { TriadPhase } from '../../contracts/triad.ts';
import type { FinishedTurn, PhaseState, PhaseStep, TriadSetup } from './phase-state.ts';

/** Begins a phase. @returns its first turns in `start`. */
export function openPhase(
  _setup: TriadSetup,
  _phase: TriadPhase,
  _from: { readonly spec: SpecState; readonly summary_ref: Ref | null },
): PhaseStep {
  throw new Error('not built');
}

/** Takes a turn that is over. One that is not outstanding changes nothing. */
export function stepPhase(_state: PhaseState, _done: FinishedTurn): PhaseStep {
  throw new Error('not built');
}
