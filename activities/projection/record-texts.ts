import type { CoordinationPlan } from '../../contracts/coordination-plan.ts';
import { ConversationSummary } from '../../contracts/design.ts';
import {
  readCoordinationPlan,
  readPhaseReport,
  readTeamDissent,
  readTeamReport,
  readWebReport,
} from '../artifacts/read-reports.ts';
import type { AgentOutput } from '../../contracts/agent-output.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { readRecord } from '../artifacts/record-log.ts';
import { readOutput, readPlan, readShape } from '../artifacts/read-artifact.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import type { TaskRecord, TeamReport } from '../../contracts/team-run.ts';
import type { TriadDissent } from '../../core/pool/find-conflicts.ts';
import { summariseRecords } from '../../core/spec/read-spec.ts';
import { WaveDecision, type WavePlan } from '../../contracts/wave-plan.ts';
import { PhaseSummary } from '../../contracts/spec.ts';
import type { PhaseReport } from '../../contracts/triad-run.ts';
import type { WebReport } from '../../contracts/transcript.ts';

/** Artifacts that a change or a rendering refers to. They are loaded beforehand, so that both stay pure. */
export interface RecordTexts {
  readonly plans: ReadonlyMap<Ref, WavePlan>;
  readonly coordination_plans: ReadonlyMap<Ref, CoordinationPlan>;
  readonly conversation_summaries: ReadonlyMap<Ref, ConversationSummary>;
  readonly outputs: ReadonlyMap<Ref, AgentOutput>;
  readonly decisions: ReadonlyMap<Ref, WaveDecision>;
  readonly markdown: ReadonlyMap<Ref, string>;
  readonly records: ReadonlyMap<Ref, RunRecord>;
  /** Phases by the address of the report. */
  readonly phases: ReadonlyMap<Ref, LoadedPhase>;
  /** Phases by the address of the report. */
  readonly teams: ReadonlyMap<Ref, LoadedTeam>;
  readonly web_reports: ReadonlyMap<Ref, WebReport>;
}

/** References to load. Null stands for a missing artifact and is skipped. */
export type TextRefs = { readonly [K in keyof RecordTexts]?: readonly (Ref | null)[] };

/** File of a run's tree: its path, its sources in the record, and the artifacts that its rendering needs. */
export interface ProjectedFile {
  readonly path: string;
  readonly needs: TextRefs;
  /** All parts of the record that can make the file differ. */
  readonly of: readonly unknown[];
  readonly render: (texts: RecordTexts) => string;
  /** Files that can be listed only from the loaded texts. If undefined, there are none. */
  readonly below?: (texts: RecordTexts) => readonly ProjectedFile[];
  /** Is given the text of the file and the record to show. The file stays when it returns false. If undefined, it may go. */
  readonly mayGo?: (text: string, now: RunRecord) => boolean;
}

/**
 * Loads every artifact once, however often it is requested.
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
  const [coordination_plans, conversation_summaries] = await Promise.all([
    loadEach(refsOf('coordination_plans'), (ref) => readCoordinationPlan(store, ref)),
    loadEach(refsOf('conversation_summaries'), (ref) =>
      readShape(store, ref, ConversationSummary, 'a conversation summary'),
    ),
  ]);
  const [plans, outputs, decisions, markdown, records, phases, teams, web_reports] =
    await Promise.all([
      loadEach(refsOf('plans'), (ref) => readPlan(store, ref)),
      loadEach(refsOf('outputs'), (ref) => readOutput(store, ref)),
      loadEach(refsOf('decisions'), (ref) =>
        readShape(store, ref, WaveDecision, 'a wave decision'),
      ),
      loadEach(refsOf('markdown'), (ref) => store.getText(ref)),
      loadEach(refsOf('records'), (ref) => readRecord(store, ref)),
      loadEach(refsOf('phases'), (ref) => loadPhase(store, ref)),
      loadEach(refsOf('teams'), (ref) => loadTeam(store, ref)),
      loadEach(refsOf('web_reports'), (ref) => readWebReport(store, ref)),
    ]);
  return {
    plans,
    coordination_plans,
    conversation_summaries,
    outputs,
    decisions,
    markdown,
    records,
    phases,
    teams,
    web_reports,
  };
}

async function loadEach<T>(
  refs: readonly Ref[],
  load: (ref: Ref) => Promise<T>,
): Promise<ReadonlyMap<Ref, T>> {
  return new Map(await Promise.all(refs.map(async (ref) => [ref, await load(ref)] as const)));
}

/** Returns the loaded text behind `ref`. A missing text is a fault of the caller, which has to name what it needs. */
export function textOf<T>(texts: ReadonlyMap<Ref, T>, ref: Ref): T {
  const text = texts.get(ref);
  if (text === undefined) throw new Error(`The artifact ${ref} was not loaded beforehand.`);
  return text;
}

/** Report of a triad's phase, with every text that it names. */
export interface LoadedPhase {
  readonly report: PhaseReport;
  readonly report_ref: Ref;
  /** Texts of sections, claims, answers and turns. */
  readonly texts: ReadonlyMap<Ref, string>;
  readonly summary: PhaseSummary | null;
  readonly output: AgentOutput | null;
}

/**
 * @throws {ArtifactCorrupt} when the report or a text is missing, damaged or of another shape.
 * @throws {StoreUnavailable} when the store can't be read.
 */
async function loadPhase(store: ArtifactStore, ref: Ref): Promise<LoadedPhase> {
  const report = await readPhaseReport(store, ref);
  const { summary_ref, output_ref } = report;
  const [texts, summary, output] = await Promise.all([
    Promise.all(listTexts(report).map(async (one) => [one, await store.getText(one)] as const)),
    summary_ref === null ? null : readShape(store, summary_ref, PhaseSummary, 'a phase summary'),
    output_ref === null ? null : readOutput(store, output_ref),
  ]);
  const byRef = new Map(texts);
  const told = summary ?? summariseUntold(report, byRef);
  return { report, report_ref: ref, texts: byRef, summary: told, output };
}

/** @returns the summary of a negotiation that no member had to sum up; null for every other phase. */
function summariseUntold(
  { phase, status, spec }: PhaseReport,
  texts: ReadonlyMap<Ref, string>,
): PhaseSummary | null {
  if (phase !== 'negotiate' || status !== 'done') return null;
  return summariseRecords(spec, (ref) => texts.get(ref) ?? '');
}

/** Lists the texts of a report, each once. */
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

/** Report of a team, with every text that it names. Teams and triads among its members have reports of their own. */
export interface LoadedTeam {
  readonly report: TeamReport;
  readonly report_ref: Ref;
  /** Plan that contains the message. */
  readonly plan: WavePlan;
  readonly tasks: readonly LoadedTask[];
  readonly output: AgentOutput | null;
  /** Dissent of triads among its members, and among those of its teams. */
  readonly dissent: readonly TriadDissent[];
}

export interface LoadedTask extends TaskRecord {
  /** The planned task; null if the leader's time was over before it was planned. */
  readonly planned: Delegation | null;
  readonly output: AgentOutput | null;
  /** Last text that had arrived when the time was over; null when there was none. */
  readonly partial: string | null;
}

/**
 * @throws {ArtifactCorrupt} when the report or a text is missing, damaged or of another shape.
 * @throws {StoreUnavailable} when the store can't be read.
 */
export async function loadTeam(store: ArtifactStore, ref: Ref): Promise<LoadedTeam> {
  const report = await readTeamReport(store, ref);
  const [plan, tasks, output, dissent] = await Promise.all([
    readPlan(store, report.plan_ref),
    Promise.all(report.tasks.map((task) => loadTask(store, task))),
    report.output_ref === null ? null : readOutput(store, report.output_ref),
    readTeamDissent(store, ref),
  ]);
  return { report, report_ref: ref, plan, tasks, output, dissent };
}

async function loadTask(store: ArtifactStore, task: TaskRecord): Promise<LoadedTask> {
  const { delegation_id, plan_ref, output_ref, partial_ref } = task;
  const [plan, output, partial] = await Promise.all([
    readPlan(store, plan_ref),
    output_ref === null ? null : readOutput(store, output_ref),
    partial_ref === null ? null : store.getText(partial_ref),
  ]);
  const planned = plan.delegations.find((one) => one.delegation_id === delegation_id) ?? null;
  return { ...task, planned, output, partial };
}

/** Finds a delegation in its plan. A miss is a fault of the caller, which has to name the right plan. */
export function findPlanned(delegationId: string, { delegations }: WavePlan): Delegation {
  const planned = delegations.find((one) => one.delegation_id === delegationId);
  if (planned !== undefined) return planned;
  throw new Error(`The plan has no delegation "${delegationId}".`);
}
