import type { AgentDefinition, AgentSummary } from '../../contracts/agent-definition.ts';

export function summariseAgent({
  agent_id,
  allowed_tools,
  risk_level,
}: AgentDefinition): AgentSummary {
  return { agent_id, allowed_tools, risk_level };
}
