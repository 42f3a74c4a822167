import type { EffectState } from '../../core/effects/step-effect.ts';

/** What the ledger says of an effect whose entry is there and can't be read. It may have taken place. */
export const damagedEntry = 'damaged';

/**
 * Remembers how far each effect has come, so that none is made twice: the state is here before the effect takes place.
 */
export interface EffectLedger {
  /**
   * The state under `key`, null when there never was one, or `damaged`.
   *
   * @param key 64 lower-case hex digits, from `effectKeyOf`.
   * @throws {StoreUnavailable} when the ledger can't be read.
   */
  find(key: string): Promise<EffectState | typeof damagedEntry | null>;

  /**
   * Replaces the state under `key`. When the promise resolves, the entry survives a power cut.
   *
   * @throws {StoreUnavailable} when the ledger can't be written.
   */
  put(key: string, state: EffectState): Promise<void>;
}
