import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type {
  CoordinationPlan,
  PlanFinding,
  PlanOperation,
} from '../../contracts/coordination-plan.ts';
import {
  BestPractices,
  ConversationSummary,
  DesignBrief,
  DesignChange,
  DesignCheckpoints,
  DesignFiles,
  DesignInstructions,
  DesignReview,
  DesignRoster,
  DesignSequence,
  PocIntegration,
  PocRecommendation,
  TechnologyResearch,
} from '../../contracts/design.ts';
import type {
  AdmitPlanInput,
  AdmitPlanResult,
  AssembleDesignInput,
  AssembleDesignResult,
  ChangeDesignInput,
  ChangeDesignResult,
  CheckDesignInput,
  DescribeDesignInput,
} from '../../contracts/design-activities.ts';
import type { DesignStageName } from '../../contracts/names.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { Ref } from '../../contracts/ref.ts';
import {
  assemblePlan,
  checkDesignParts,
  operationsOfPractices,
  operationsOfProofs,
} from '../../core/design/assemble-plan.ts';
import { listNewFindings } from '../../core/design/check-plan-file.ts';
import { changePlan } from '../../core/design/change-plan.ts';
import { countWaves } from '../../core/design/next-wave.ts';
import { describeDesign } from '../../core/design/describe-design.ts';
import { fitRoster } from '../../core/design/check-plan-verifiers.ts';
import { checkPlanChange } from '../../core/design/rate-change.ts';
import { listOpenGoals } from '../../core/run/record-criteria.ts';
import { capFaults } from '../../core/text/list-names.ts';
import { bullets, joinSections, oneLine } from '../../core/text/markdown.ts';
import {
  findPlanFaults,
  readCoordinationPlan,
  storeCoordinationPlan,
} from '../artifacts/read-reports.ts';
import { readRegistry, readShape, type RegistrySnapshot } from '../artifacts/read-artifact.ts';
import { readRecord } from '../artifacts/record-log.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { RecordDeps } from '../run-record/deps.ts';
import { propertiesOf } from '../tools/mcp/expand-grants.ts';
import { summariseAgent } from '../run-record/load-registry.ts';

type ToolProperties = RecordDeps['toolProperties'];

/** Makes one plan of the replies of a design. Gaps between the replies are findings. */
export async function assembleDesign(
  store: ArtifactStore,
  { record_ref, materials, created_at }: AssembleDesignInput,
): Promise<AssembleDesignResult> {
  const refOf = (stage: DesignStageName): Ref => {
    const material = materials.findLast((one) => one.stage === stage);
    if (material === undefined) throw new Error(`The design has no ${stage} yet.`);
    return material.ref;
  };
  const [record, summary, brief, roster, sequence, files, checkpoints, instructions] =
    await Promise.all([
      readRecord(store, record_ref),
      readShape(store, refOf('interview'), ConversationSummary, 'a conversation summary'),
      readShape(store, refOf('brief'), DesignBrief, 'a design brief'),
      readShape(store, refOf('roster'), DesignRoster, 'a roster'),
      readShape(store, refOf('sequencing'), DesignSequence, 'a sequence of tasks'),
      readShape(store, refOf('file_structure'), DesignFiles, 'a file structure'),
      readShape(store, refOf('checkpoints'), DesignCheckpoints, 'validation checkpoints'),
      readShape(store, refOf('instructions'), DesignInstructions, 'instructions'),
    ]);
  const parts = { summary, brief, roster, sequence, files, checkpoints, instructions };
  const plan = assemblePlan({ goal: record.goal, ...parts, created_at });
  const goals = listOpenGoals(record.criteria).map(({ criterion_id }) => criterion_id);
  const findings = checkDesignParts(parts, goals);
  return { plan: await storeCoordinationPlan(store, plan), findings };
}

/** Checks everything of a plan that code can check. @param toolNames Tools that an agent may be granted. */
export async function checkDesign(
  store: ArtifactStore,
  toolNames: readonly string[],
  { plan_ref, registry_ref, change }: CheckDesignInput,
): Promise<{ readonly findings: readonly PlanFinding[] }> {
  const { agents } = await readRegistry(store, registry_ref);
  const summaries = agents.map((agent) => summariseAgent(agent));
  const check = async (ref: Ref) => {
    const plan = await readCoordinationPlan(store, ref);
    return { plan, findings: findPlanFaults(plan, summaries, toolNames) };
  };
  const after = await check(plan_ref);
  if (change === undefined) return { findings: after.findings };
  return { findings: listNewFindings(await check(change.before_ref), after, change.verified) };
}

/** Applies a change to a plan and stores the new version. */
export async function changeDesign(
  store: ArtifactStore,
  input: ChangeDesignInput,
): Promise<ChangeDesignResult> {
  const plan = await readCoordinationPlan(store, input.plan_ref);
  const changed = changePlan(plan, await readOperations(store, plan, input));
  const { plan: after, faults } = changed.ok
    ? await fitToWork(store, changed.plan, input)
    : { plan, faults: changed.faults };
  if (faults.length > 0) return { type: 'refused', faults: capFaults(faults.map(toFault)) };
  return { type: 'changed', plan: await storeCoordinationPlan(store, after) };
}

/** Fits the roster to a change during the work, and checks the change; before the work there is nothing to respect. */
async function fitToWork(
  store: ArtifactStore,
  changed: CoordinationPlan,
  { source }: ChangeDesignInput,
): Promise<{ readonly plan: CoordinationPlan; readonly faults: readonly PlanFinding[] }> {
  if (source.type !== 'adaptation') return { plan: changed, faults: [] };
  const [before, unwanted] = await Promise.all([
    readCoordinationPlan(store, source.before_ref),
    Promise.all((source.unwanted ?? []).map((ref) => readCoordinationPlan(store, ref))),
  ]);
  const plan = fitRoster(before, changed);
  return { plan, faults: checkPlanChange(before, plan, { ...source, unwanted }) };
}

async function readOperations(
  store: ArtifactStore,
  plan: CoordinationPlan,
  { source, now }: ChangeDesignInput,
): Promise<readonly PlanOperation[]> {
  switch (source.type) {
    case 'design_change':
      return (await readShape(store, source.ref, DesignChange, 'a change of the plan')).operations;
    case 'best_practices':
      return operationsOfPractices(
        await readShape(store, source.ref, BestPractices, 'best practices'),
      );
    case 'adaptation':
      return (await readShape(store, source.ref, DesignChange, 'a change of the plan')).operations;
    case 'poc_integration': {
      const [recommendation, integration] = await Promise.all([
        readShape(store, source.recommendation_ref, PocRecommendation, 'a recommendation'),
        source.ref === null
          ? { positions: [] }
          : readShape(store, source.ref, PocIntegration, 'positions of proofs of concept'),
      ]);
      return operationsOfProofs(plan, recommendation, integration, now);
    }
  }
}

function toFault({ path, message, cure }: PlanFinding): OutputFault {
  return { path, reason: message, hint: `Try: ${cure}` };
}

export async function describePlan(
  store: ArtifactStore,
  input: DescribeDesignInput,
): Promise<{ readonly text: string }> {
  const { run_id, plan_ref, shown_ref, research: materials = [], findings, review_ref } = input;
  const { usage, worked_ms } = input;
  const [plan, shown, research, review] = await Promise.all([
    readCoordinationPlan(store, plan_ref),
    shown_ref === undefined ? null : readCoordinationPlan(store, shown_ref),
    Promise.all(materials.map(({ ref }) => readShape(store, ref, TechnologyResearch, 'research'))),
    review_ref === undefined ? null : readShape(store, review_ref, DesignReview, 'a review'),
  ]);
  const remarks = review?.remarks ?? [];
  const findings_ref =
    findings.length === 0 ? null : await store.put(renderFindings(findings, remarks));
  const described = { plan, plan_ref, shown, research, findings, findings_ref, remarks };
  return { text: describeDesign({ run_id, ...described, use: { usage, worked_ms } }) };
}

/** Renders findings and remarks as Markdown, for people. */
function renderFindings(findings: readonly PlanFinding[], remarks: readonly string[]): string {
  const found = findings.map(({ path, message, cure }) =>
    oneLine(`\`${path}\`: ${message}. Try: ${cure}`),
  );
  return joinSections([
    `# Findings of the plan\n${bullets(found, '')}`,
    remarks.length === 0 ? null : `# Remarks of the review\n${bullets(remarks.map(oneLine), '')}`,
  ]);
}

/** Adds the new agents of a plan to a registry. A registered agent keeps its file. */
export async function admitPlan(
  store: ArtifactStore,
  toolProperties: ToolProperties,
  { plan_ref, registry_ref, max_delegations }: AdmitPlanInput,
): Promise<AdmitPlanResult> {
  const [plan, registry] = await Promise.all([
    readCoordinationPlan(store, plan_ref),
    readRegistry(store, registry_ref),
  ]);
  const known = new Set(registry.agents.map(({ agent_id }) => agent_id));
  const added = plan.new_agents
    .filter(({ agent_id }) => !known.has(agent_id))
    .map(({ tools, ...draft }): AgentDefinition => ({
      ...draft,
      allowed_tools: tools,
      model: registry.agents_model ?? null,
    }));
  const agents = [...registry.agents, ...added].toSorted((a, b) =>
    a.agent_id < b.agent_id ? -1 : 1,
  );
  const extended: RegistrySnapshot = { ...registry, agents };
  const properties = { ...toolProperties, ...propertiesOf(registry.mcp_tools ?? []) };
  return {
    registry_ref: added.length === 0 ? registry_ref : await store.put(JSON.stringify(extended)),
    agents: agents.map((agent) => summariseAgent(agent, properties)),
    criterion_ids: plan.tasks.flatMap(({ validation }) =>
      validation.evidence.map(({ evidence_id }) => evidence_id),
    ),
    waves: countWaves(plan, max_delegations),
  };
}
