import { parseJson } from '../../core/json.ts';
import { z } from 'zod';
import type { AgentSummary } from '../../contracts/agent-definition.ts';
import { CoordinationPlan, type PlanFinding } from '../../contracts/coordination-plan.ts';
import type { PlanOutline } from '../../contracts/design-run.ts';
import type { Ref } from '../../contracts/ref.ts';
import { checkCoordinationPlan } from '../../core/design/check-plan-file.ts';
import { listNames } from '../../core/text/list-names.ts';
import type { Message, SourceRef, WebReport } from '../../contracts/transcript.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import type { TeamReport } from '../../contracts/team-run.ts';
import { readEnd } from '../../core/executor.ts';
import { findDisputes, type Dispute, type TriadDissent } from '../../core/pool/find-conflicts.ts';
import { findDissent } from '../../core/spec/read-spec.ts';
import { WaveDecision } from '../../contracts/wave-plan.ts';
import type { Fact } from '../../contracts/agent-output.ts';
import type { DissentPlace, PhaseReport } from '../../contracts/triad-run.ts';
import { type ArtifactStore, ArtifactCorrupt } from '../ports/artifact-store.ts';
import { readShape, readJson } from './read-artifact.ts';

/** @throws {ArtifactCorrupt} when the plan is missing, damaged or of another shape. */
export function readCoordinationPlan(store: ArtifactStore, ref: Ref): Promise<CoordinationPlan> {
  return readShape(store, ref, CoordinationPlan, 'a coordination plan');
}

/** Stores a plan. Its address is the hash that an approval is bound to. */
export async function storeCoordinationPlan(
  store: ArtifactStore,
  plan: CoordinationPlan,
): Promise<PlanOutline> {
  const authors = new Set(plan.tasks.map(({ agent }) => agent));
  return {
    plan_ref: await store.put(JSON.stringify(plan)),
    agents: plan.agents.map(({ agent_name, agent_id, role, triad }) => ({
      agent_name,
      agent_id,
      role,
      ...(triad !== undefined && { triad }),
      ...(role === 'solution_architect' && !authors.has(agent_name) && { only_answers: true }),
    })),
    tasks: plan.tasks.length,
    proofs_of_concept: plan.tasks.filter((task) => task.proof_of_concept !== null).length,
  };
}

/** Finds the faults of a plan in a run with these agents and tools. */
export function findPlanFaults(
  plan: CoordinationPlan,
  agents: readonly AgentSummary[],
  toolNames: readonly string[],
): readonly PlanFinding[] {
  const unknown = plan.new_agents.flatMap(({ agent_id, tools }, at) =>
    tools
      .filter((tool) => !toolNames.includes(tool))
      .map((tool) => ({
        rule: 'tools',
        path: `new_agents/${at}/tools`,
        message: `"${agent_id}" may use "${tool}", which does not exist`,
        cure: `Name one of ${listNames(toolNames)}, or leave it out`,
      })),
  );
  return [...checkCoordinationPlan(plan, { agents }), ...unknown];
}

const StoredReport = z.object({
  question: z.string(),
  answer_md: z.string(),
  source_refs: z.array(
    z.object({
      url: z.string(),
      title: z.string(),
      quotation: z.string(),
      retrieved_at: z.string(),
    }),
  ),
  searches: z.number(),
  opened: z.number(),
  errors: z.array(z.string()),
}) satisfies z.ZodType<WebReport>;

/** @throws ArtifactCorrupt when it is missing, damaged or of another shape. */
export function readWebReport(store: ArtifactStore, ref: Ref): Promise<WebReport> {
  return readShape(store, ref, StoredReport, 'a report of web research');
}

/**
 * Lists the pages that the web research of a conversation returned. A result stands in it as JSON between the marks of
 * data; one that was left out for length names none.
 */
export function readOpenedSources(messages: readonly Message[]): readonly SourceRef[] {
  const blocks = messages.flatMap(({ content }) => content);
  return blocks.flatMap((block) =>
    block.type === 'tool_result' && !block.is_error ? readReportIn(block.content) : [],
  );
}

function readReportIn(text: string): readonly SourceRef[] {
  const json = parseJson(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  return StoredReport.safeParse(json).data?.source_refs ?? [];
}

/**
 * @throws {ArtifactCorrupt} when the report is missing, damaged, or of an unknown version.
 * @throws {StoreUnavailable} when the store can't be read.
 */
export async function readPhaseReport(store: ArtifactStore, ref: Ref): Promise<PhaseReport> {
  const value = await readJson(store, ref);
  if (isPhaseReport(value)) return value;
  throw unknownReport(ref, "a triad's phase");
}

/** @throws like `readPhaseReport`. */
export async function readTeamReport(store: ArtifactStore, ref: Ref): Promise<TeamReport> {
  const value = await readJson(store, ref);
  if (isTeamReport(value)) return value;
  throw unknownReport(ref, 'a team');
}

/** Checks the version only: planwave alone writes reports, and the address proves that one is unchanged. */
function isPhaseReport(value: unknown): value is PhaseReport {
  return isOfVersion1(value) && 'phase' in value;
}

function isTeamReport(value: unknown): value is TeamReport {
  return isOfVersion1(value) && 'tasks' in value;
}

function isOfVersion1(value: unknown): value is { readonly version: 1 } {
  return typeof value === 'object' && value !== null && 'version' in value && value.version === 1;
}

function unknownReport(ref: Ref, what: string): ArtifactCorrupt {
  return new ArtifactCorrupt(
    `The artifact ${ref} is no report of ${what} that this planwave reads. Try: the planwave that wrote it, or a newer one.`,
    { ref, path: ref },
  );
}

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

/** An ended delegation, or an ended task of a team. */
export interface Ended {
  readonly delegation_id: string;
  readonly executor_end: DissentPlace | null;
}

/**
 * Reads all points that the triads of a wave could not settle: an outcome names only the first ones.
 *
 * @throws {ArtifactCorrupt} when a report is missing or damaged.
 * @throws {StoreUnavailable} when the store can't be read.
 */
export async function readDisputes(
  store: ArtifactStore,
  wave: number,
  outcomes: readonly Ended[],
): Promise<readonly Dispute[]> {
  const dissent = await Promise.all(outcomes.map((one) => readDissent(store, one)));
  return findDisputes(wave, dissent.flat());
}

/** @throws like `readDisputes`. */
export async function readDissent(
  store: ArtifactStore,
  { delegation_id, executor_end: end }: Ended,
): Promise<readonly TriadDissent[]> {
  if (end === null) return [];
  if (end.kind === 'team') return readTeamDissent(store, end.report_ref);
  if (end.dissent_ref === null) return [];
  const { spec } = await readPhaseReport(store, end.dissent_ref);
  return [{ delegation_id, claims: spec.claims, dissent: findDissent(spec) }];
}

/** Reads the disputes of triads among the members of a team and of its nested teams. */
export async function readTeamDissent(
  store: ArtifactStore,
  ref: Ref,
): Promise<readonly TriadDissent[]> {
  const { tasks } = await readTeamReport(store, ref);
  const dissent = await Promise.all(
    tasks.map(({ delegation_id, executor }) =>
      readDissent(store, { delegation_id, executor_end: readEnd(executor) }),
    ),
  );
  return dissent.flat();
}
