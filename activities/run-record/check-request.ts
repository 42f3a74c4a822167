import { z } from 'zod';
import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import { thisTeamId, plannerAgentId } from '../../contracts/names.ts';
import { NamedTeam, TeamMember, type TeamInput, type TeamSummary } from '../../contracts/team.ts';
import { isRecord } from '../../core/json.ts';
import { listNames } from '../../core/text/list-names.ts';
import { checkNamedTeams, type PlacedTeam } from '../../core/team/check-team.ts';
import type { MemberDraft, TeamDraft } from '../../core/team/summarise-teams.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import type { RunLimits } from '../../contracts/limits.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { checkPlan } from '../../core/plan/check-plan.ts';
import { checkSections, checkTriad, checkPhaseStart } from '../../core/triad/check-triad.ts';
import { outlinePlan } from '../../core/plan/check-repetition.ts';
import type { TriadInput, TriadPhaseInput } from '../../contracts/triad.ts';
import type { RecordDeps } from './deps.ts';
import { joinSentences, type InputFault, type WorkflowType } from './describe-input-issues.ts';
import { summariseAgent } from './load-registry.ts';
import { choosesTeam, listDefinitionFields, composePlan } from './compose-plan.ts';
import type { RunRequest } from './read-input.ts';

type Worker = Pick<RecordDeps, 'models' | 'isPriced' | 'middlewareNames'>;

interface TypedTeams {
  readonly placed: readonly PlacedTeam[];
  readonly agents: readonly AgentDefinition[];
  /** True when members may be triads. */
  readonly triads: boolean;
}

/** Finds faults of the teams in an input, whatever other faults it has. */
export function checkTypedTeams(
  worker: Worker,
  { placed, agents, triads }: TypedTeams,
): readonly InputFault[] {
  const drafts = placed.map(({ draft }) => draft);
  const seated = drafts.flatMap(({ members = [] }) =>
    members.flatMap(({ triad }) => triad?.members ?? []),
  );
  const faults = checkNamedTeams(placed, {
    agents: agents.map((agent) => summariseAgent(agent)),
    triads,
    // A typed model may belong to a provider that the worker does not know.
    models: seated.flatMap(({ model }) => model ?? []),
    leaderModels: listLeaderModels(
      worker,
      agents,
      drafts.flatMap(({ model }) => model ?? []),
    ),
    middlewares: worker.middlewareNames,
  });
  return faults.map(({ path, reason, hint }) => ({ path, reason: joinSentences(reason, hint) }));
}

/** @returns null when the provider's models are unknown. */
function listLeaderModels(
  { models, isPriced }: Worker,
  agents: readonly AgentDefinition[],
  typed: readonly string[],
): readonly string[] | null {
  if (models.length === 0) return null;
  const ofAgents = agents.flatMap(({ model }) => model ?? []);
  return [...new Set([...ofAgents, ...models, ...typed.filter(isPriced)])];
}

/**
 * Checks that an input that names one of its `teams` defines nothing more of it; one that names none defines its own.
 */
function checkTeamRequest(input: TeamInput): readonly InputFault[] {
  const { team_id, teams = [], members } = input;
  if (team_id === undefined) return [];
  if (choosesTeam(input)) {
    return listDefinitionFields(input).map((path) => ({
      path,
      reason: `the team "${team_id}" of teams brings its own. Try: leave it out here, or give this team another team_id`,
    }));
  }
  if (members !== undefined) return [];
  const names = teams.map((team) => team.team_id);
  const reason = `there is no team "${team_id}" in teams. Teams are: ${listNames(names)}`;
  return [{ path: 'team_id', reason: `${reason}. Try: one of them, or members` }];
}

/** Most teams that are read. More are a fault of the input's shape. */
const draftsMax = 20;

/** Unknown fields are ignored here: they are a fault of the input's shape. */
const memberFields = z.object(TeamMember.shape).partial();
const teamFields = z.object(NamedTeam.shape).omit({ members: true }).partial();

/**
 * Reads every team of an input as far as possible, so that all faults of a team are reported at once, whatever other
 * faults the input has.
 */
export function readTeamDrafts(type: WorkflowType, input: unknown): readonly PlacedTeam[] {
  if (!isRecord(input)) return [];
  const named = readList(input['teams'])
    .slice(0, draftsMax)
    .flatMap((team, i) => (isRecord(team) ? [{ draft: readTeam(team), at: `teams[${i}].` }] : []));
  if (type === 'plannerRun' || type === 'plannerWave') return named;
  if (type !== 'team') return [];
  const team_id = input['team_id'] ?? thisTeamId;
  if (named.some(({ draft }) => draft.team_id === team_id) && 'team_id' in input) return named;
  return [{ draft: readTeam({ ...input, team_id }), at: '' }, ...named];
}

function readTeam(raw: Readonly<Record<string, unknown>>): TeamDraft {
  const { value, unread } = readFields(teamFields, raw);
  const members = raw['members'];
  if (members === undefined) return { ...value, unread };
  if (!Array.isArray(members)) return { ...value, unread: [...unread, 'members'] };
  return { ...value, unread, members: readList(members).map(readMember) };
}

function readMember(raw: unknown): MemberDraft {
  if (typeof raw === 'string') return { id: raw, bare: true };
  if (!isRecord(raw)) return {};
  const { value, unread } = readFields(memberFields, raw);
  return { ...value, unread };
}

function readList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the valid fields, and the names of the invalid ones. */
function readFields<S extends z.ZodObject>(
  schema: S,
  raw: Readonly<Record<string, unknown>>,
): { readonly value: z.infer<S>; readonly unread: readonly string[] } {
  const given = Object.keys(schema.shape).filter((key) => raw[key] !== undefined);
  const fits = (key: string): boolean => schema.shape[key]?.safeParse(raw[key]).success === true;
  const readable = given.filter(fits).map((key) => [key, raw[key]]);
  return {
    value: schema.parse(Object.fromEntries(readable)),
    unread: given.filter((key) => !fits(key)),
  };
}

/** Placeholder address: a plan is checked before it is stored. */
const noRef = '0'.repeat(64);

/** Agents, models, teams and limits that a request is checked against. */
export interface Surroundings {
  readonly agents: readonly AgentDefinition[];
  /** Models that members of triads may get. */
  readonly models: readonly string[];
  readonly limits: RunLimits;
  /** Teams that a plan may name; null when teams are not allowed. */
  readonly teams: readonly TeamSummary[] | null;
}

/** Finds faults of a well-formed input: its executors, the rules for every plan, and the criteria to verify. */
export function checkRequest(
  workflowType: WorkflowType,
  request: RunRequest,
  around: Surroundings,
): readonly InputFault[] {
  return [...checkWork(workflowType, request, around), ...checkVerified(request)];
}

function checkWork(
  workflowType: WorkflowType,
  request: RunRequest,
  around: Surroundings,
): readonly InputFault[] {
  const { delegations, typed } = request;
  if (typed?.kind === 'triad') {
    return [
      ...checkPhaseVerified(typed.input),
      ...checkTriadRequest(typed.input, delegations?.[0], around),
    ];
  }
  if (typed?.kind === 'team') return checkTeamRequest(typed.input);
  if (delegations === null) return [];
  if (workflowType === 'delegation') return checkExecutor(delegations[0]?.agent_id, around.agents);
  return checkPlan(outlinePlan(composePlan(delegations), noRef), {
    agents: around.agents.map((agent) => summariseAgent(agent)),
    triads: request.triads,
    teams: around.teams,
    models: around.models,
    criteria: [],
    answered_questions: [],
    known_inputs: request.constraints.length === 0 ? ['goal'] : ['goal', 'constraints'],
    delegation_ids: [],
    fingerprints: {},
    stale: [],
    limits: around.limits,
  }).map(toInputFault);
}

/** Finds criteria for which a verifier is required, and which the input does not have. */
function checkVerified({ verify, criteria, delegations }: RunRequest): readonly InputFault[] {
  if (typeof verify === 'boolean') return [];
  if (delegations !== null) return checkTypedCriteria(verify, delegations);
  return verify.flatMap((id) => {
    const number = Number(/^goal-(\d+)$/.exec(id)?.[1] ?? 1);
    if (number >= 1 && number <= Math.max(1, criteria.length)) return [];
    return [
      {
        path: 'verify',
        reason: `the input has ${criteria.length} criteria, so there is no "${id}". Try: "goal-1" for the first one`,
      },
    ];
  });
}

/** Finds a verifier of a single phase, which has no output that one could judge. */
function checkPhaseVerified(typed: TriadInput | TriadPhaseInput): readonly InputFault[] {
  if (!('phase' in typed)) return [];
  const given = (['verify', 'verify_triad'] as const).filter((path) => Boolean(typed[path]));
  return given.map((path) => ({
    path,
    reason:
      'a single phase has no output that could be verified. Try: leave it out, or start a triad',
  }));
}

function checkTypedCriteria(
  verify: readonly string[],
  delegations: readonly Delegation[],
): readonly InputFault[] {
  const known = delegations.flatMap((one) =>
    one.acceptance_criteria.map(({ criterion_id }) => criterion_id),
  );
  const unknown = verify.filter((id) => !known.includes(id));
  if (unknown.length === 0) return [];
  const reason = `there is no criterion ${listNames(unknown)}. Criteria are: ${listNames(known)}`;
  return [{ path: 'verify', reason }];
}

function checkTriadRequest(
  typed: TriadInput | TriadPhaseInput,
  delegation: Delegation | undefined,
  { agents, models }: Surroundings,
): readonly InputFault[] {
  if (delegation === undefined) {
    const reason = 'there is no agent but the planner, so the triad can have no members';
    return [{ path: 'members', reason: `${reason}. Try: "agents_dir" with agents of your own` }];
  }
  const { delegations } = outlinePlan(composePlan([delegation]), noRef);
  return delegations.flatMap(({ executor: triad, criterion_ids }) => {
    if (triad.kind !== 'triad') return [];
    return [
      ...checkTriad(triad, { agents: agents.map((agent) => summariseAgent(agent)), models }, ''),
      ...checkSections(triad, criterion_ids, ''),
      ...('phase' in typed
        ? checkPhaseStart(
            {
              phase: typed.phase,
              has_summary: typed.summary !== undefined,
              claims: typed.claims,
              owners: typed.owners,
            },
            triad,
          )
        : []),
    ].map(toInputFault);
  });
}

function checkExecutor(
  agentId: string | undefined,
  agents: readonly AgentDefinition[],
): readonly InputFault[] {
  const executors = agents.map((agent) => agent.agent_id).filter((id) => id !== plannerAgentId);
  if (agentId !== undefined && executors.includes(agentId)) return [];
  const reason =
    agentId === plannerAgentId
      ? 'the planner plans and decides, it does no task'
      : `there is no agent ${listNames(agentId === undefined ? [] : [agentId])}`;
  return [{ path: 'agent_id', reason: `${reason}. Agents are: ${listNames(executors)}` }];
}

function toInputFault({ path, reason, hint }: OutputFault): InputFault {
  return { path, reason: joinSentences(reason, hint) };
}
