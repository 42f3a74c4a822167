import { plannerAgentId } from '../../contracts/names.ts';
import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { SystemBlock } from '../ports/model-client.ts';
import { doerRules } from './doer-rules.ts';
import { plannerRules } from './planner-rules.ts';

/**
 * The system prompt: common rules, then the role.
 *
 * Both ends are cache breakpoints. The first prefix is shared by all agents of a kind, the second by all turns and all
 * delegations of one agent. Anything that differs per run stands in the first user message, after both.
 */
export function buildSystem(agent: AgentDefinition): SystemBlock[] {
  const rules = agent.agent_id === plannerAgentId ? plannerRules : doerRules;
  return [
    { text: rules, cacheBreakpoint: true },
    { text: `# Your role: ${agent.agent_id}\n${agent.prompt}`, cacheBreakpoint: true },
  ];
}
