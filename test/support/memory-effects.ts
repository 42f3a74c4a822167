import type { EffectLedger } from '../../activities/ports/effect-ledger.ts';
import type { EffectState } from '../../core/effects/step-effect.ts';

/** Effect ledger in memory, with everything that was ever put into it. */
export interface MemoryEffects extends EffectLedger {
  readonly entries: Map<string, EffectState>;
  readonly history: EffectState[];
}

export function createMemoryEffects(): MemoryEffects {
  const entries = new Map<string, EffectState>();
  const versions = new Map<string, number>();
  const history: EffectState[] = [];
  const versionOf = (key: string): number => versions.get(key) ?? 0;
  return {
    entries,
    history,
    find: async (key) => ({ state: entries.get(key) ?? null, version: versionOf(key) }),
    put: async (key, state, after) => {
      if (versionOf(key) !== after) return false;
      versions.set(key, after + 1);
      entries.set(key, state);
      history.push(state);
      return true;
    },
  };
}
