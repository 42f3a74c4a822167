import type { AgentDefinition, AgentSummary } from '../../contracts/agent-definition.ts';
import { onlyLeads } from '../../core/team/summarise-teams.ts';
import { bringsOfTools } from '../../core/plan/rule-of-two.ts';
import type { RecordDeps } from './deps.ts';

/** @param properties Those of each tool by its name. Default: none, for rules that do not read them. */
export function summariseAgent(
  agent: AgentDefinition,
  properties: RecordDeps['toolProperties'] = {},
): AgentSummary {
  const { agent_id, allowed_tools, risk_level } = agent;
  const brings = bringsOfTools(allowed_tools, properties);
  return {
    agent_id,
    allowed_tools,
    risk_level,
    ...(onlyLeads(agent) && { only_leads: true }),
    ...(Object.keys(brings).length > 0 && { brings }),
  };
}
