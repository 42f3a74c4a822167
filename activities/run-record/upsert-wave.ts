import type { StoredWave } from '../../contracts/run-record.ts';

/** Puts a wave in its place: instead of the one with its number, else at the end. */
export function upsertWave(waves: readonly StoredWave[], wave: StoredWave): readonly StoredWave[] {
  return waves.some((one) => one.wave === wave.wave)
    ? waves.map((one) => (one.wave === wave.wave ? wave : one))
    : [...waves, wave];
}
