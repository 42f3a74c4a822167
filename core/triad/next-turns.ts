import type { PhaseState } from './phase-state.ts';
import type { TurnDraft } from './give-turn.ts';

/** Next step of a phase. */
export type NextTurns =
  /** A member is working, or the phase has ended. */
  | { readonly type: 'wait'; readonly state: PhaseState }
  | { readonly type: 'give'; readonly state: PhaseState; readonly drafts: readonly TurnDraft[] }
  /** Only the writer's turn is left. */
  | { readonly type: 'worked'; readonly state: PhaseState };
