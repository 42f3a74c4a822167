import { AgentOutput } from '../../contracts/agent-output.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { WaveDecision } from '../../contracts/wave-decision.ts';
import { StoredPlan } from '../../contracts/wave-plan.ts';
import type { WavePlan } from '../../contracts/wave-plan.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { readRecord } from '../artifacts/read-record.ts';
import { readShape } from '../artifacts/read-artifact.ts';
import { loadPhase } from './load-phase.ts';
import type { LoadedPhase } from './load-phase.ts';
import { loadTeam } from './load-team.ts';
import type { LoadedTeam } from './load-team.ts';

/** Artifacts that a change or a rendering speaks about. They are loaded beforehand, so that both stay pure. */
export interface RecordTexts {
  readonly plans: ReadonlyMap<Ref, WavePlan>;
  readonly outputs: ReadonlyMap<Ref, AgentOutput>;
  readonly decisions: ReadonlyMap<Ref, WaveDecision>;
  readonly markdown: ReadonlyMap<Ref, string>;
  readonly records: ReadonlyMap<Ref, RunRecord>;
  /** By the address of the report. */
  readonly phases: ReadonlyMap<Ref, LoadedPhase>;
  /** By the address of the report. */
  readonly teams: ReadonlyMap<Ref, LoadedTeam>;
}

/** What has to be loaded. Null stands for something that does not exist, and is passed over. */
export type TextRefs = { readonly [K in keyof RecordTexts]?: readonly (Ref | null)[] };

/**
 * Loads every artifact once, however often it is asked for.
 *
 * @throws {ArtifactCorrupt} when one is missing, damaged or of another shape.
 * @throws {StoreUnavailable} when the store can't be read.
 */
export async function loadTexts(
  store: ArtifactStore,
  needs: readonly TextRefs[],
): Promise<RecordTexts> {
  const refsOf = (kind: keyof RecordTexts): readonly Ref[] => [
    ...new Set(needs.flatMap((need) => need[kind] ?? []).filter((ref) => ref !== null)),
  ];
  const [plans, outputs, decisions, markdown, records, phases, teams] = await Promise.all([
    loadEach(refsOf('plans'), (ref) => readShape(store, ref, StoredPlan, 'a wave plan')),
    loadEach(refsOf('outputs'), (ref) => readShape(store, ref, AgentOutput, 'an agent output')),
    loadEach(refsOf('decisions'), (ref) => readShape(store, ref, WaveDecision, 'a wave decision')),
    loadEach(refsOf('markdown'), (ref) => store.getText(ref)),
    loadEach(refsOf('records'), (ref) => readRecord(store, ref)),
    loadEach(refsOf('phases'), (ref) => loadPhase(store, ref)),
    loadEach(refsOf('teams'), (ref) => loadTeam(store, ref)),
  ]);
  return { plans, outputs, decisions, markdown, records, phases, teams };
}

async function loadEach<T>(
  refs: readonly Ref[],
  load: (ref: Ref) => Promise<T>,
): Promise<ReadonlyMap<Ref, T>> {
  return new Map(await Promise.all(refs.map(async (ref) => [ref, await load(ref)] as const)));
}

/** The loaded text behind `ref`. A miss is a fault of the caller, who has to name what is needed. */
export function textOf<T>(texts: ReadonlyMap<Ref, T>, ref: Ref): T {
  const text = texts.get(ref);
  if (text === undefined) throw new Error(`The artifact ${ref} was not loaded beforehand.`);
  return text;
}
