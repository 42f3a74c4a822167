import type { Taint } from '../../contracts/agent-definition.ts';
import type { CarriedRun } from '../../contracts/planner-run.ts';
import type { WaveResult } from '../../contracts/planner-wave.ts';

/** Facts about earlier waves that the rules for the next one need. */
export interface RunLedger {
  delegationIds(): readonly string[];
  /** Number of dispatches of each fingerprint. */
  fingerprints(): Readonly<Record<string, number>>;
  /** Properties of all results so far; undefined when they have none. */
  taint(): Taint | undefined;
  take(wave: WaveResult): void;
}

/** Facts about waves before this execution. */
export type EarlierWaves = Pick<CarriedRun, 'delegation_ids' | 'fingerprints' | 'taint'>;

export function openLedger(carried: EarlierWaves | null): RunLedger {
  const delegationIds = [...(carried?.delegation_ids ?? [])];
  const fingerprints = new Map(Object.entries(carried?.fingerprints ?? {}));
  let taint = carried?.taint;
  return {
    taint: () => taint,
    delegationIds: () => delegationIds,
    fingerprints: () => Object.fromEntries(fingerprints),
    take(wave) {
      taint = wave.taint ?? taint;
      delegationIds.push(...wave.outcomes.map(({ delegation_id }) => delegation_id));
      for (const fingerprint of wave.fingerprints) {
        fingerprints.set(fingerprint, (fingerprints.get(fingerprint) ?? 0) + 1);
      }
    },
  };
}
