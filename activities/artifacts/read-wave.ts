import type { Fact } from '../../contracts/fact.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { WaveDecision } from '../../contracts/wave-decision.ts';
import { readShape } from './read-artifact.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';

/** Decision with the number of its wave. */
export interface DecidedWave {
  readonly wave: number;
  readonly decision: WaveDecision;
}

/** Reads the planner's newest decision; null before the first one. */
export async function readLastDecision(
  store: ArtifactStore,
  record: RunRecord,
): Promise<DecidedWave | null> {
  const last = record.waves.findLast(({ decision_ref }) => decision_ref !== null);
  if (last === undefined || last.decision_ref === null) return null;
  const decision = await readShape(store, last.decision_ref, WaveDecision, 'a wave decision');
  return { wave: last.wave, decision };
}

/** Reads the planner's newest wave_compact: the source of truth (seed 004 §7). Empty before the first decision. */
export async function readLastWaveCompact(
  store: ArtifactStore,
  record: RunRecord,
): Promise<string> {
  return (await readLastDecision(store, record))?.decision.wave_compact ?? '';
}

/** Matches an address in the store, and the number of a turn: they mean nothing to a model. */
const storeSource = /^(?:[0-9a-f]{64}|turn-\d+)$/;

/** Returns a fact as prompts show it: without what only bookkeeping needs. */
export function showFact(fact: Fact): Omit<Fact, 'superseded_by' | 'recorded_at'> {
  const { superseded_by: _superseded, recorded_at: _recorded, ...shown } = fact;
  return { ...shown, source_refs: fact.source_refs.filter((ref) => !storeSource.test(ref)) };
}

/**
 * Lists current facts, oldest first: of those with one key the newest, because the others say the same. When they
 * differ, they are a conflict, and are listed there with all their values.
 */
export function currentFacts(record: RunRecord): Fact[] {
  const standing = record.facts.filter((fact) => fact.superseded_by === null);
  const newest = new Map(standing.map((fact) => [fact.key, fact.fact_id]));
  return standing.filter(({ key, fact_id }) => key === null || newest.get(key) === fact_id);
}
