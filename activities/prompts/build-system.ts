import { plannerAgentId } from '../../contracts/names.ts';
import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { SystemBlock } from '../ports/model-client.ts';
import { doerRules } from './doer-rules.ts';
import { plannerRules } from './planner-rules.ts';

/**
 * The system prompt: what is the same in every run, and nothing else.
 *
 * It ends in a cache breakpoint. Agents that do work have rules only: their role differs within a wave, so it stands in
 * the first user message, after all that the wave shares. There is one planner, so its role stands here.
 */
export function buildSystem(agent: AgentDefinition): SystemBlock[] {
  if (agent.agent_id !== plannerAgentId) return [{ text: doerRules, cacheBreakpoint: true }];
  return [
    { text: plannerRules, cacheBreakpoint: true },
    { text: `# Your role: ${agent.agent_id}\n${agent.prompt}`, cacheBreakpoint: true },
  ];
}
