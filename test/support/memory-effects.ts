import type { EffectLedger } from '../../activities/ports/effect-ledger.ts';
import type { EffectState } from '../../core/effects/step-effect.ts';

/** An effect ledger in memory, with all that was ever put into it. */
export interface MemoryEffects extends EffectLedger {
  readonly entries: Map<string, EffectState>;
  readonly history: EffectState[];
}

export function createMemoryEffects(): MemoryEffects {
  const entries = new Map<string, EffectState>();
  const history: EffectState[] = [];
  return {
    entries,
    history,
    find: async (key) => entries.get(key) ?? null,
    put: async (key, state) => {
      entries.set(key, state);
      history.push(state);
    },
  };
}
