import type { Fact } from '../../contracts/fact.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { WaveDecision } from '../../contracts/wave-decision.ts';
import { readShape } from '../tools/read-artifact.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';

/** The planner's newest wave_compact: the source of truth (seed 004 §7). Empty before the first decision. */
export async function readLastWaveCompact(
  store: ArtifactStore,
  record: RunRecord,
): Promise<string> {
  const ref = record.waves.findLast((wave) => wave.decision_ref !== null)?.decision_ref;
  if (ref === undefined || ref === null) return '';
  return (await readShape(store, ref, WaveDecision, 'a wave decision')).wave_compact;
}

/** A fact as prompts show it: without what only bookkeeping needs. */
export function showFact(fact: Fact): Omit<Fact, 'superseded_by' | 'recorded_at'> {
  const { superseded_by: _superseded, recorded_at: _recorded, ...shown } = fact;
  return shown;
}

/** Facts that still hold, oldest first. */
export function currentFacts(record: RunRecord): Fact[] {
  return record.facts.filter((fact) => fact.superseded_by === null);
}
