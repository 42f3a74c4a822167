import type { TriadPhaseView } from '../../contracts/views.ts';
import type { PhaseState } from './phase-state.ts';

export function viewPhase(_state: PhaseState, _status: TriadPhaseView['state']): TriadPhaseView {
  throw new Error('not built');
}
