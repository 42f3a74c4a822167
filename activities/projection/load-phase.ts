import { AgentOutput } from '../../contracts/agent-output.ts';
import { PhaseSummary } from '../../contracts/phase-summary.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { PhaseReport } from '../../contracts/triad-run.ts';
import { summariseRecords } from '../../core/spec/summarise-records.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { readPhaseReport } from '../artifacts/read-report.ts';
import { readShape } from '../artifacts/read-artifact.ts';

/** The report of a triad's phase, with every text that it names. */
export interface LoadedPhase {
  readonly report: PhaseReport;
  readonly report_ref: Ref;
  /** Of sections, claims, answers and turns. */
  readonly texts: ReadonlyMap<Ref, string>;
  readonly summary: PhaseSummary | null;
  readonly output: AgentOutput | null;
}

/**
 * @throws {ArtifactCorrupt} when the report or a text is missing, damaged or of another shape.
 * @throws {StoreUnavailable} when the store can't be read.
 */
export async function loadPhase(store: ArtifactStore, ref: Ref): Promise<LoadedPhase> {
  const report = await readPhaseReport(store, ref);
  const { summary_ref, output_ref } = report;
  const [texts, summary, output] = await Promise.all([
    Promise.all(listTexts(report).map(async (one) => [one, await store.getText(one)] as const)),
    summary_ref === null ? null : readShape(store, summary_ref, PhaseSummary, 'a phase summary'),
    output_ref === null ? null : readShape(store, output_ref, AgentOutput, 'an agent output'),
  ]);
  const byRef = new Map(texts);
  const told = summary ?? summariseUntold(report, byRef);
  return { report, report_ref: ref, texts: byRef, summary: told, output };
}

/** @returns the summary of a negotiation that nobody had to sum up; null of every other phase. */
function summariseUntold(
  { phase, status, spec }: PhaseReport,
  texts: ReadonlyMap<Ref, string>,
): PhaseSummary | null {
  if (phase !== 'negotiate' || status !== 'done') return null;
  return summariseRecords(spec, (ref) => texts.get(ref) ?? '');
}

/** Each once. */
function listTexts({ spec, turns }: PhaseReport): readonly Ref[] {
  const refs = [
    ...spec.sections.map(({ text_ref }) => text_ref),
    ...spec.claims.flatMap(({ proposal_ref, dispute_ref = null, responses }) => [
      proposal_ref,
      dispute_ref,
      ...responses.map(({ reason_ref }) => reason_ref),
    ]),
    ...turns.map(({ said_ref }) => said_ref),
  ];
  return [...new Set(refs.filter((ref) => ref !== null))];
}
