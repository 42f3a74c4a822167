import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { OpenRunInput, OpenRunResult, PhaseStart } from '../../contracts/activity-types.ts';
import type { RunBudget } from '../../contracts/budget.ts';
import type { RunLimits, RunLoad } from '../../contracts/limits.ts';
import type { TeamSummary } from '../../contracts/team.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import { definedOnly } from '../../core/json.ts';
import { resolveBudget } from '../../core/budget/resolve-budget.ts';
import { resolveLimits } from '../../core/limits.ts';
import { listKnownInputs } from '../../core/run/list-deliverables.ts';
import { summariseTeams } from '../../core/team/summarise-teams.ts';
import { findUnreadable } from '../../core/text/list-names.ts';
import { orNull, type RegistrySnapshot } from '../artifacts/read-artifact.ts';
import { readRecord } from '../artifacts/record-log.ts';
import { findPlanFaults, storeCoordinationPlan } from '../artifacts/read-reports.ts';
import type { AssertCurrent } from '../attempt/heartbeat.ts';
import { checkBudget, listModels, listTypedLeaders, listTypedMembers } from './input-models.ts';
import { checkRequest, checkTypedTeams, readTeamDrafts } from './check-request.ts';
import { composePlan, seatTriad, storePlan, seatTeam } from './compose-plan.ts';
import type { RecordDeps } from './deps.ts';
import { beginRecord, openPhaseStart } from './first-record.ts';
import { withFork } from './fork-run.ts';
import { createInvalidInput, joinSentences, type InputFault } from './describe-input-issues.ts';
import { propertiesOf } from '../tools/mcp/expand-grants.ts';
import { loadRegistry, summariseAgent, type LoadedRegistry } from './load-registry.ts';
import { publishRecord } from './update-record.ts';
import { readInput, type RunRequest } from './read-input.ts';
import { resolveQuestionRules } from '../../core/questions/inbox-event.ts';
import { chooseLoad, readRunLoad, recordStore } from '../../core/run/run-place.ts';
import type { CriterionState } from '../../contracts/criterion.ts';
import { listSections } from '../../core/triad/roles.ts';

/**
 * Checks the typed input and begins the run's record.
 *
 * Repeating it with the same input gives the same references, and does not set back a run that has gone on.
 *
 * @param assertCurrent Throws when another attempt may have taken over the work.
 * @throws InvalidInput with every fault of the input and of the agent files at once, and for the id of another run.
 * @throws {StoreUnavailable} when the store can't be read or written.
 */
export async function openRun(
  deps: RecordDeps,
  input: OpenRunInput,
  assertCurrent: AssertCurrent,
): Promise<OpenRunResult> {
  const intake = await checkIntake(deps, input);
  await checkFirst(deps, input);
  const { request, agents, pins, limits, budget, models, teams } = intake;
  const store = recordStore(await deps.identifyStore(), request.workspaceDir !== null);
  const properties = { ...deps.toolProperties, ...propertiesOf(pins) };
  const registryRef = await deps.store.put(JSON.stringify(snapshotOf(intake)));
  const plan =
    request.delegations === null
      ? null
      : await storePlan(deps.store, composePlan(request.delegations));
  const phaseStart = await startPhase(deps, request);
  const typedPlan =
    request.plan === null ? null : await storeCoordinationPlan(deps.store, request.plan);
  const { record, fork } = await beginRecord(deps, input, request, {
    registryRef,
    assertCurrent,
    typedPlan,
    storeId: store.id,
  });
  const recordRef = await deps.store.put(JSON.stringify(record));
  await publishRecord(deps, { record, ref: recordRef }, null, assertCurrent);
  const opened: OpenRunResult = {
    goal_title: record.goal_title,
    store,
    ...chooseLoad(request, input.load, deps.modelQueue),
    registry_ref: registryRef,
    record_ref: recordRef,
    agents: agents.map((agent) => summariseAgent(agent, properties)),
    limits,
    budget,
    use_defaults: request.useDefaults,
    ...flagsOf(request),
    ...(deps.notifies === true && { notify: true as const }),
    autonomy: request.autonomy,
    ...(request.verify !== false && {
      verify: request.verify,
      ...definedOnly({ verify_triad: request.verifyTriad }),
    }),
    ...(request.workspaceDir !== null && { changes: request.changes }),
    triads: request.triads,
    models,
    teams,
    questions: resolveQuestionRules(request.questions),
    approvers: deps.approvers,
    criteria: record.criteria.map(toState),
    known_inputs: listKnownInputs(record),
    plan,
    ...(phaseStart !== null && { phase_start: phaseStart }),
    ...(request.design !== null && { design: { ...request.design, plan: typedPlan } }),
  };
  return withFork(opened, fork);
}

/** Refuses the id of another run of this store: its record would be replaced, and its copies of a folder worked in. */
async function checkFirst(
  { store, index }: Pick<RecordDeps, 'store' | 'index'>,
  { workflow_type, run_id, chain_id }: OpenRunInput,
): Promise<void> {
  if (chain_id === undefined) return;
  const { ref } = await index.read(run_id);
  const kept = ref === null ? null : await orNull(readRecord(store, ref));
  if (kept === null || kept.chain_id === chain_id) return;
  const reason = `a run "${run_id}" exists already in this store, also if the server has forgotten it. Try: another id (planwave: --id)`;
  throw createInvalidInput(workflow_type, [{ path: '--workflow-id', reason }]);
}

function toState({
  criterion_id,
  state,
  delegation_id,
  question_id,
}: RunRecord['criteria'][number]): CriterionState {
  const by = question_id !== undefined && { question_id };
  return { criterion_id, state, delegation_id, ...by };
}

function flagsOf({ unattended, notes }: RunRequest): Pick<OpenRunResult, 'unattended' | 'notes'> {
  return { ...(unattended && { unattended }), ...(notes && { notes }) };
}

/** Parts of `RecordDeps` that an input is checked against. Nothing is written with them. */
export type IntakeDeps = Pick<
  RecordDeps,
  | 'agents'
  | 'workspaces'
  | 'toolNames'
  | 'workspaceTools'
  | 'middlewareNames'
  | 'models'
  | 'isPriced'
  | 'mcp'
  | 'onLeftOut'
>;

/** A typed input without a fault, and what follows from it. */
interface Intake {
  readonly request: RunRequest;
  readonly agents: readonly AgentDefinition[];
  readonly designers: readonly AgentDefinition[];
  readonly pins: LoadedRegistry['pins'];
  readonly limits: RunLimits;
  readonly budget: RunBudget | null;
  readonly models: readonly string[];
  readonly teams: readonly TeamSummary[] | null;
}

function snapshotOf({ request, agents, designers, pins }: Intake): RegistrySnapshot {
  return {
    agents: [...agents],
    designers: [...designers],
    teams: [...(request.teams ?? [])],
    ...(pins.length > 0 && { mcp_tools: [...pins] }),
    ...(request.agentsModel !== null && { agents_model: request.agentsModel }),
  };
}

/**
 * Checks a typed input and the agents and folders that it names.
 *
 * @throws InvalidInput with every fault of the input and of the agent files at once.
 */
export async function checkIntake(
  deps: IntakeDeps,
  { workflow_type, input, load }: Pick<OpenRunInput, 'workflow_type' | 'input' | 'load'>,
): Promise<Intake> {
  const unreadable = findUnreadable(input);
  if (unreadable !== null) {
    throw createInvalidInput(workflow_type, [{ path: 'input', reason: unreadable }]);
  }
  const { request: typed, agentsDir, faults } = readInput(workflow_type, input);
  const {
    agents: loaded,
    designers: group,
    pins,
    faults: agentFaults,
  } = await loadRegistry(deps, agentsDir, typed !== null && typed.workspaceDir !== null);
  const [agents, designers] = [withModel(loaded, typed), withModel(group, typed)];
  const teamFaults =
    agentFaults.length > 0
      ? []
      : checkTypedTeams(deps, {
          placed: readTeamDrafts(workflow_type, input),
          agents,
          triads: typed?.triads ?? true,
        });
  const shapeFaults = [...faults, ...agentFaults];
  if (typed === null || shapeFaults.length > 0) {
    throw createInvalidInput(workflow_type, [...shapeFaults, ...teamFaults]);
  }
  const request = findMembers(typed, agents);
  const limits = resolveLimits(request.limits);
  const budget = resolveBudget(request.budget);
  const members = listTypedMembers(request);
  const models = listModels(deps, budget, agents, members);
  const teams = request.teams === null ? null : summariseTeams(request.teams, agents);
  const ruleFaults = [
    ...teamFaults,
    ...checkRequest(workflow_type, request, { agents, models, limits, teams }),
    ...checkBudget(budget, agents, [...members, ...listTypedLeaders(request)], deps.isPriced),
    ...checkTypedPlan(deps, request, agents),
    ...checkOnePlan(request),
    ...checkPlace(request, load),
    ...(await checkWorkspace(deps, request)),
  ];
  if (ruleFaults.length > 0) throw createInvalidInput(workflow_type, ruleFaults);
  return { request, agents, designers, pins, limits, budget, models, teams };
}

function checkOnePlan({ plan, from }: RunRequest): readonly InputFault[] {
  const reason = 'a run that goes on from another one takes its plan over. Try: leave it out';
  return plan !== null && from !== null ? [{ path: 'plan', reason }] : [];
}

/** Checks what only the start command says of the place in the queues: Temporal takes more than planwave does. */
function checkPlace(
  request: Pick<RunRequest, 'priority' | 'tenant'>,
  started: RunLoad = {},
): readonly InputFault[] {
  const { priority = started.priority, tenant = started.tenant } = request;
  const taken = readRunLoad({ priority, tenant });
  const shape = 'expected 1 to 64 letters, digits, ".", "_" or "-". Try: "acme"';
  return [
    ...(taken?.tenant === tenant ? [] : [{ path: '--fairness-key', reason: shape }]),
    ...(taken?.priority === priority
      ? []
      : [{ path: '--priority-key', reason: 'expected 1 (served first) to 5 (last). Try: 3' }]),
  ];
}

/** Gives all agents the model that the input names, if it names one. */
function withModel(
  agents: readonly AgentDefinition[],
  request: RunRequest | null,
): readonly AgentDefinition[] {
  const model = request?.agentsModel ?? null;
  return model === null ? agents : agents.map((agent) => ({ ...agent, model }));
}

/** Checks a typed coordination plan: each finding is a fault, unless the findings are what is asked for. */
function checkTypedPlan(
  { toolNames }: IntakeDeps,
  { plan, design }: RunRequest,
  agents: readonly AgentDefinition[],
): readonly InputFault[] {
  if (plan === null || design?.stage !== undefined) return [];
  return findPlanFaults(
    plan,
    agents.map((agent) => summariseAgent(agent)),
    toolNames,
  ).map(({ rule, path, message, cure }) => ({
    path: path === '' ? 'plan' : `plan/${path}`,
    reason: joinSentences(`${message} (${rule})`, `Try: ${cure}`),
  }));
}

/** Chooses the members of a triad and the leader of a team, once the agents are loaded. */
function findMembers(request: RunRequest, agents: readonly AgentDefinition[]): RunRequest {
  const { typed } = request;
  if (typed === null) return request;
  const delegation =
    typed.kind === 'team' ? seatTeam(typed.input, agents) : seatTriad(typed.input, agents);
  return delegation === null ? request : { ...request, delegations: [delegation] };
}

async function startPhase(
  { store }: Pick<RecordDeps, 'store'>,
  { typed, delegations }: RunRequest,
): Promise<PhaseStart | null> {
  const delegation = delegations?.[0];
  if (typed?.kind !== 'triad' || !('phase' in typed.input)) return null;
  if (delegation?.executor.kind !== 'triad') return null;
  const { members } = delegation.executor;
  return openPhaseStart(store, typed.input, { members, sections: listSections(delegation) });
}

/** Checks the workspace of the agents before anything is paid for. */
async function checkWorkspace(
  { workspaces }: Pick<RecordDeps, 'workspaces'>,
  { workspaceDir, changes }: RunRequest,
): Promise<readonly InputFault[]> {
  if (workspaceDir === null) return [];
  const reason = await workspaces.findFault(workspaceDir, changes !== 'direct');
  return reason === null ? [] : [{ path: 'workspace_dir', reason }];
}
