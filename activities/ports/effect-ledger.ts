import type { EffectState } from '../../core/effects/step-effect.ts';

/** State of an effect whose entry exists but can't be read. The effect may have taken place. */
export const damagedEntry = 'damaged';

/** State of an effect, with the number of its writes. */
export interface EffectEntry {
  /** Null when there was never one. */
  readonly state: EffectState | typeof damagedEntry | null;
  /** 0 before the first write, one more with each write. */
  readonly version: number;
}

/** Ledger of effects, which keeps them from being made twice: each state is written before the effect takes place. */
export interface EffectLedger {
  /**
   * @param key 64 lower-case hex digits, from `effectKeyOf`.
   * @throws {StoreUnavailable} when the ledger can't be read.
   */
  find(key: string): Promise<EffectEntry>;

  /**
   * Replaces the state under `key`, if no other attempt has written since version `after` was read. When the promise
   * resolves, the entry survives a power cut.
   *
   * @returns false when another attempt was first. Then the entry is theirs.
   * @throws {StoreUnavailable} when the ledger can't be written.
   */
  put(key: string, state: EffectState, after: number): Promise<boolean>;
}
