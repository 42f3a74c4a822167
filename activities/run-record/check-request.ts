import type { AgentDefinition, AgentSummary } from '../../contracts/agent-definition.ts';
import { plannerAgentId } from '../../contracts/names.ts';
import type { RunLimits } from '../../contracts/limits.ts';
import { checkPlan } from '../../core/plan/check-plan.ts';
import { listNames } from '../../core/text/list-names.ts';
import { composePlan, outlinePlan } from './compose-plan.ts';
import { joinSentences } from './input-fault.ts';
import type { InputFault, WorkflowType } from './input-fault.ts';
import type { RunRequest } from './read-input.ts';

/** A plan is checked before it is stored, so it has no address yet. */
const noRef = '0'.repeat(64);

/** What is wrong with a well-formed input: who is to do the work, and the rules that every plan keeps. */
export function checkRequest(
  workflowType: WorkflowType,
  request: RunRequest,
  agents: readonly AgentDefinition[],
  limits: RunLimits,
): readonly InputFault[] {
  if (request.delegations === null) return [];
  if (workflowType === 'delegation') return checkExecutor(request.delegations[0]?.agent_id, agents);
  const faults = checkPlan(outlinePlan(composePlan(request.delegations), noRef), {
    agents: agents.map(summariseAgent),
    criteria: [],
    known_inputs: request.constraints.length === 0 ? ['goal'] : ['goal', 'constraints'],
    delegation_ids: [],
    fingerprints: {},
    stale: [],
    limits,
  });
  return faults.map(({ path, reason, hint }) => ({ path, reason: joinSentences(reason, hint) }));
}

export function summariseAgent(agent: AgentDefinition): AgentSummary {
  const { agent_id, allowed_tools, risk_level } = agent;
  return { agent_id, allowed_tools, risk_level };
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
