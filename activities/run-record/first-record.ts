import { chooseLoad } from '../../core/run/run-place.ts';
import type { OpenRunInput, PhaseStart } from '../../contracts/activity-types.ts';
import type { LoneStage, PlanOutline, RecordedDesign } from '../../contracts/design-run.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { RunRecord, RecordedCriterion } from '../../contracts/run-record.ts';
import { forkRecord } from '../../core/run/fork-record.ts';
import type { CoordinationPlan } from '../../contracts/coordination-plan.ts';
import { addPlannedCriteria } from '../../core/run/record-criteria.ts';
import { definedOnly } from '../../core/json.ts';
import { titleOf } from '../../core/text/cut-text.ts';
import { noUsage } from '../../core/usage/add-usage.ts';
import { quoteAgents, quoteTasks } from '../../core/design/describe-design.ts';
import type { SpecState } from '../../contracts/spec.ts';
import { openSpec } from '../../core/spec/read-spec.ts';
import { stepSpec } from '../../core/spec/step-spec.ts';
import { listNegotiators, mayWrite } from '../../core/triad/roles.ts';
import type { SpecSection, TriadMember, TriadPhaseInput } from '../../contracts/triad.ts';
import type { AssertCurrent } from '../attempt/heartbeat.ts';
import { WorkspaceRefused } from '../ports/workspaces.ts';
import { blockBytesMax } from '../text/block-limits.ts';
import { takeLines } from '../text/bytes.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import type { RecordDeps } from './deps.ts';
import { openFork, type OpenedFork } from './fork-run.ts';
import type { RunRequest } from './read-input.ts';

/** Makes the first record: of a run that begins from nothing, or of one that goes on from another one. */
export async function beginRecord(
  deps: RecordDeps,
  input: OpenRunInput,
  request: RunRequest,
  {
    registryRef,
    assertCurrent,
    ...known
  }: {
    readonly registryRef: Ref;
    readonly assertCurrent: AssertCurrent;
    readonly typedPlan: PlanOutline | null;
    readonly storeId: string;
  },
): Promise<{ readonly record: RunRecord; readonly fork: OpenedFork | null }> {
  const guide = await keepGuide(deps, input.run_id, request.workspaceDir);
  const isRun = input.workflow_type === 'plannerRun';
  const inputRef = isRun ? await deps.store.put(JSON.stringify(input.input)) : null;
  const first = createFirstRecord(input, request, registryRef, {
    ...known,
    approvers: deps.approvers,
    guide,
    inputRef,
  });
  if (request.from === null) return { record: first, fork: null };
  const fork = await openFork(deps, request.from);
  if (request.workspaceDir === null && fork.before.workspace_dir === undefined)
    await deps.workspaces.takeOver(fork.from.run_id, input.run_id, assertCurrent);
  return { record: forkRecord(fork.before, first, fork.from.wave), fork };
}

/** Names of the file in which a workspace says how to work in it, the first one that there is. */
const guideFiles = ['AGENTS.md', 'CLAUDE.md'];

/** Keeps the guide of a workspace as it is when the run begins, so that every agent reads the same. */
async function keepGuide(
  { store, workspaces }: Pick<RecordDeps, 'store' | 'workspaces'>,
  run_id: string,
  dir: string | null,
): Promise<RunRecord['workspace_guide'] | null> {
  if (dir === null) return null;
  for (const file of guideFiles) {
    try {
      // The second is read only if there is no first one.
      // oxlint-disable-next-line no-await-in-loop
      const { content } = await workspaces.read({ run_id, dir }, file);
      const text = new TextDecoder().decode(content).trim();
      // oxlint-disable-next-line no-await-in-loop
      if (text !== '')
        return { file, ref: await store.put(takeLines(text, blockBytesMax.workspace_guide)) };
    } catch (error) {
      if (!(error instanceof WorkspaceRefused)) throw error;
    }
  }
  return null;
}

/** The record of a run that begins. The same input gives the same record. */
function createFirstRecord(
  {
    run_id,
    chain_id,
    started_at,
    load,
  }: Pick<OpenRunInput, 'run_id' | 'chain_id' | 'started_at' | 'load'>,
  request: RunRequest,
  registryRef: Ref,
  {
    typedPlan,
    approvers,
    guide,
    storeId,
    inputRef,
  }: {
    readonly typedPlan: PlanOutline | null;
    readonly approvers: RecordDeps['approvers'];
    readonly guide: RunRecord['workspace_guide'] | null;
    readonly storeId: string;
    /** Null for a part that is started alone. */
    readonly inputRef: Ref | null;
  },
): RunRecord {
  return {
    version: 1,
    revision: 0,
    previous_ref: null,
    run_id,
    goal: request.goal,
    goal_title: titleOf(request.goal),
    constraints: request.constraints,
    instructions: [],
    registry_ref: registryRef,
    store_id: storeId,
    ...definedOnly({ chain_id }),
    ...(inputRef !== null && { input_ref: inputRef }),
    ...(approvers !== null && { approvers }),
    ...chooseLoad(request, load),
    ...(request.workspaceDir !== null && {
      workspace_dir: request.workspaceDir,
      changes: request.changes,
    }),
    ...(guide !== null && guide !== undefined && { workspace_guide: guide }),
    ...(request.language !== null && { language: request.language }),
    started_at,
    updated_at: started_at,
    phase: 'intake',
    status: null,
    waves: [],
    criteria: addPlannedCriteria(
      request.criteria.map(toUserCriterion),
      request.plan === null ? [] : quoteTasks(request.plan),
    ),
    details: [],
    facts: [],
    consumptions: [],
    stale: [],
    open_questions: [],
    answered_questions: [],
    rejected_answers: [],
    usage: noUsage,
    ...(typedPlan !== null &&
      request.plan !== null && {
        design: givenDesign(typedPlan, request.plan, request.design?.stage),
      }),
    result_ref: null,
    report_ref: null,
  };
}

/** Returns the design of a plan that came with the input: it was approved before, unless a stage of it is to be made. */
function givenDesign(
  { plan_ref }: PlanOutline,
  plan: CoordinationPlan,
  stage: LoneStage | undefined,
): RecordedDesign {
  return {
    status: stage === undefined ? 'approved' : 'designing',
    materials: [],
    plan_refs: [plan_ref],
    plan_agents: quoteAgents(plan),
    findings: [],
    approved_by: null,
    usage: noUsage,
  };
}

function toUserCriterion(description: string, index: number): RecordedCriterion {
  return {
    criterion_id: `goal-${index + 1}`,
    description,
    state: 'open',
    delegation_id: null,
    note: '',
  };
}

/** A complete triad: every member is set, and every section has a text. */
export interface SeatedTriad {
  readonly members: readonly TriadMember[];
  readonly sections: readonly SpecSection[];
}

/**
 * Prepares the start of a single phase: the spec as the phase before would have left it.
 *
 * @param input A checked input: its claims and owners fit the triad.
 * @throws {StoreUnavailable} when its texts can't be stored.
 */
export async function openPhaseStart(
  store: Pick<ArtifactStore, 'put'>,
  input: TriadPhaseInput,
  triad: SeatedTriad,
): Promise<PhaseStart> {
  const { phase, summary } = input;
  const opened = openSpec(
    triad.sections.map(({ section_id }) => section_id),
    listNegotiators(triad.members),
  );
  return {
    phase,
    spec: await prepareSpec(store, input, triad, opened),
    summary_ref: summary === undefined ? null : await store.put(summary),
  };
}

async function prepareSpec(
  store: Pick<ArtifactStore, 'put'>,
  { phase, claims, owners }: TriadPhaseInput,
  { members, sections }: SeatedTriad,
  opened: SpecState,
): Promise<SpecState> {
  const first = members.find(({ role }) => mayWrite(role))?.name ?? null;
  switch (phase) {
    case 'deliberate':
      return opened;
    case 'negotiate':
      return registerClaims(store, opened, claims ?? claimAll(first, sections));
    case 'execute': {
      const given = owners === undefined ? null : new Map(Object.entries(owners));
      return {
        ...opened,
        sections: opened.sections.map((section) => ({
          ...section,
          owner: given === null ? first : (given.get(section.section_id) ?? null),
        })),
      };
    }
  }
}

type TypedClaims = NonNullable<TriadPhaseInput['claims']>;

async function registerClaims(
  store: Pick<ArtifactStore, 'put'>,
  opened: SpecState,
  claims: TypedClaims,
): Promise<SpecState> {
  const refs = await Promise.all(claims.map(({ proposal }) => store.put(proposal)));
  return claims.reduce((spec, { section_id, member }, i) => {
    const proposal_ref = refs[i] ?? '';
    const event = {
      type: 'claim',
      member,
      registered_by: member,
      section_id,
      proposal_ref,
    } as const;
    return stepSpec(spec, event).state;
  }, opened);
}

/** Claims each section with the text of the spec. */
function claimAll(member: string | null, sections: readonly SpecSection[]): TypedClaims {
  if (member === null) return [];
  return sections.map(({ section_id, text }) => ({ section_id, member, proposal: text }));
}
