/**
 * One change that a tool makes outside of the run, from the intention to what is known of it. The ledger keeps the state
 * after each step, so that whoever finds it after a crash knows what may have happened.
 *
 * Invariants:
 *   EF1. Every state takes every event; one that does not fit changes nothing, and its command comes again.
 *   EF2. It acts only out of `started`, which is in the ledger before; a state that is found as `started` is checked first.
 *   EF3. Confirmed, failed and skipped are for ever: they neither change nor act.
 *   EF4. It acts again only when the check saw that nothing had happened, or when the user said so.
 *   EF5. What nobody knows is unverified until the user resolves it, and a resolution holds for the round it was asked in.
 *   EF6. Whatever crashes when: with a truthful check the effect takes place once at most.
 */
import type { EffectReceipt, EffectResolution } from '../../contracts/effect.ts';

/** What a tool says when it looks whether its effect took place. */
export type EffectVerdict =
  | { readonly type: 'happened'; readonly receipt: EffectReceipt }
  | { readonly type: 'absent' }
  /** `found`: what it saw instead, for people. */
  | { readonly type: 'unknown'; readonly found: string };

export type EffectState =
  | { readonly type: 'intended'; readonly round: number }
  /** `before`: what the tool saw before it acted, for its check. */
  | { readonly type: 'started'; readonly round: number; readonly before: string }
  /** `receipt` is null when the user vouched for it. */
  | { readonly type: 'confirmed'; readonly receipt: EffectReceipt | null }
  | { readonly type: 'failed'; readonly reason: string }
  /** `round`: how often nobody knew, from 1. */
  | { readonly type: 'unverified'; readonly round: number; readonly found: string }
  | { readonly type: 'skipped'; readonly found: string };

export type EffectEvent =
  /** The tool has looked at what is there and is about to act. */
  | { readonly type: 'begun'; readonly before: string }
  | { readonly type: 'acted'; readonly receipt: EffectReceipt }
  /** The tool could not act, or said that it could not; `verdict` is what it saw then. */
  | { readonly type: 'threw'; readonly reason: string; readonly verdict: EffectVerdict }
  /** What the tool saw of an effect whose end nobody knows. */
  | { readonly type: 'checked'; readonly verdict: EffectVerdict }
  | { readonly type: 'resolved'; readonly round: number; readonly choice: EffectResolution };

export type EffectCommand = 'begin' | 'act' | 'check' | 'ask' | 'report';

export interface EffectStep {
  readonly state: EffectState;
  readonly command: EffectCommand;
}

/** @param found What the ledger has; null when it has nothing. */
export function openEffect(found: EffectState | null): EffectStep {
  const state: EffectState = found ?? { type: 'intended', round: 1 };
  return { state, command: commandOf(state) };
}

export function stepEffect(state: EffectState, event: EffectEvent): EffectStep {
  const next = applyEvent(state, event);
  // Only an attempt that has just written `started`, or has looked since, may act.
  const mayAct =
    next.type === 'started' &&
    ((state.type === 'intended' && event.type === 'begun') || isSeenAbsent(state, event));
  return { state: next, command: mayAct ? 'act' : commandOf(next) };
}

function commandOf(state: EffectState): EffectCommand {
  switch (state.type) {
    case 'intended':
      return 'begin';
    case 'started':
      return 'check';
    case 'unverified':
      return 'ask';
    case 'confirmed':
    case 'failed':
    case 'skipped':
      return 'report';
  }
}

function isSeenAbsent(state: EffectState, event: EffectEvent): boolean {
  return state.type === 'started' && event.type === 'checked' && event.verdict.type === 'absent';
}

/** @returns the same state when the event does not fit it. */
function applyEvent(state: EffectState, event: EffectEvent): EffectState {
  switch (state.type) {
    case 'intended':
      if (event.type === 'begun') {
        return { type: 'started', round: state.round, before: event.before };
      }
      return event.type === 'threw' ? { type: 'failed', reason: event.reason } : state;
    case 'started':
      return applyToStarted(state, event);
    case 'unverified':
      return event.type === 'resolved' && event.round === state.round
        ? resolve(state, event.choice)
        : state;
    case 'confirmed':
    case 'failed':
    case 'skipped':
      return state;
  }
}

type Started = Extract<EffectState, { type: 'started' }>;
type Unverified = Extract<EffectState, { type: 'unverified' }>;

function applyToStarted(state: Started, event: EffectEvent): EffectState {
  if (event.type === 'acted') return { type: 'confirmed', receipt: event.receipt };
  if (event.type !== 'checked' && event.type !== 'threw') return state;
  const { verdict } = event;
  switch (verdict.type) {
    case 'happened':
      return { type: 'confirmed', receipt: verdict.receipt };
    case 'absent':
      return event.type === 'threw' ? { type: 'failed', reason: event.reason } : state;
    case 'unknown':
      return { type: 'unverified', round: state.round, found: verdict.found };
  }
}

function resolve(state: Unverified, choice: EffectResolution): EffectState {
  switch (choice) {
    case 'verified':
      return { type: 'confirmed', receipt: null };
    case 'retry':
      return { type: 'intended', round: state.round + 1 };
    case 'skip':
      return { type: 'skipped', found: state.found };
  }
}
