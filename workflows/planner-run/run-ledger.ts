import type { CarriedRun } from '../../contracts/planner-run.ts';
import type { WaveResult } from '../../contracts/planner-wave.ts';

/** Facts about earlier waves that the rules for the next one need. */
export interface RunLedger {
  delegationIds(): readonly string[];
  /** Number of dispatches of each fingerprint. */
  fingerprints(): Readonly<Record<string, number>>;
  take(wave: WaveResult): void;
}

export function openLedger(carried: CarriedRun | null): RunLedger {
  const delegationIds = [...(carried?.delegation_ids ?? [])];
  const fingerprints = new Map(Object.entries(carried?.fingerprints ?? {}));
  return {
    delegationIds: () => delegationIds,
    fingerprints: () => Object.fromEntries(fingerprints),
    take(wave) {
      delegationIds.push(...wave.outcomes.map(({ delegation_id }) => delegation_id));
      for (const fingerprint of wave.fingerprints) {
        fingerprints.set(fingerprint, (fingerprints.get(fingerprint) ?? 0) + 1);
      }
    },
  };
}
