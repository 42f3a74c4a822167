import type { AgentDefinition, AgentSummary } from '../../contracts/agent-definition.ts';
import { onlyLeads } from '../../core/team/summarise-teams.ts';

export function summariseAgent(agent: AgentDefinition): AgentSummary {
  const { agent_id, allowed_tools, risk_level } = agent;
  return { agent_id, allowed_tools, risk_level, ...(onlyLeads(agent) && { only_leads: true }) };
}
