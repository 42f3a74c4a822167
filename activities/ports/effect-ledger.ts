import type { EffectState } from '../../core/effects/step-effect.ts';

/** What the ledger says of an effect whose entry is there and can't be read. It may have taken place. */
export const damagedEntry = 'damaged';

/** How far an effect has come, and how often that was written. */
export interface EffectEntry {
  /** Null when there never was one. */
  readonly state: EffectState | typeof damagedEntry | null;
  /** 0 before the first write, one more with each. */
  readonly version: number;
}

/**
 * Remembers how far each effect has come, so that none is made twice: the state is here before the effect takes place.
 */
export interface EffectLedger {
  /**
   * @param key 64 lower-case hex digits, from `effectKeyOf`.
   * @throws {StoreUnavailable} when the ledger can't be read.
   */
  find(key: string): Promise<EffectEntry>;

  /**
   * Replaces the state under `key`, if nobody has written it since version `after` was read. When the promise resolves, the
   * entry survives a power cut.
   *
   * @returns false when somebody has: another attempt has brought the effect further. Then the entry is theirs.
   * @throws {StoreUnavailable} when the ledger can't be written.
   */
  put(key: string, state: EffectState, after: number): Promise<boolean>;
}
