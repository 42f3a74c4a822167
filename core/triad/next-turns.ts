import type { PhaseState } from './phase-state.ts';
import type { TurnDraft } from './give-turn.ts';

/** What a phase does next. */
export type NextTurns =
  /** Somebody is at work, or the phase is at its end. */
  | { readonly type: 'wait'; readonly state: PhaseState }
  | { readonly type: 'give'; readonly state: PhaseState; readonly drafts: readonly TurnDraft[] }
  /** Nothing is left but the writer's word. */
  | { readonly type: 'worked'; readonly state: PhaseState };
