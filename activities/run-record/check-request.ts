import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { Delegation } from '../../contracts/delegation.ts';
import { plannerAgentId } from '../../contracts/names.ts';
import type { RunLimits } from '../../contracts/limits.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { TeamSummary } from '../../contracts/team.ts';
import { checkPlan } from '../../core/plan/check-plan.ts';
import { checkSections, checkTriad, checkPhaseStart } from '../../core/triad/check-triad.ts';
import { listNames } from '../../core/text/list-names.ts';
import { composePlan } from './compose-plan.ts';
import { checkTeamRequest } from './check-typed-teams.ts';
import { joinSentences } from './describe-input-issues.ts';
import type { InputFault, WorkflowType } from './describe-input-issues.ts';
import type { RunRequest } from './read-input.ts';
import { summariseAgent } from './load-registry.ts';
import { outlinePlan } from '../../core/plan/check-repetition.ts';
import type { TriadInput, TriadPhaseInput } from '../../contracts/triad.ts';

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

/** Finds faults of a well-formed input: its executors, and the rules for every plan. */
export function checkRequest(
  workflowType: WorkflowType,
  request: RunRequest,
  around: Surroundings,
): readonly InputFault[] {
  const { delegations, typed } = request;
  if (typed?.kind === 'triad') return checkTriadRequest(typed.input, delegations?.[0], around);
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

function checkTriadRequest(
  typed: TriadInput | TriadPhaseInput,
  delegation: Delegation | undefined,
  { agents, models }: Surroundings,
): readonly InputFault[] {
  if (delegation === undefined) {
    const reason = 'there is no agent but the planner, so nobody can be a member';
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
