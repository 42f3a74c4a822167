import { plannerAgentId } from '../../contracts/names.ts';
import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { SystemBlock } from '../ports/model-client.ts';
import { coderRules } from './coder-rules.ts';
import { doerRules } from './doer-rules.ts';
import { memberRules } from './member-rules.ts';
import { plannerRules } from './planner-rules.ts';

/** In which part an agent works: a delegation alone, a member of a triad, or one that writes code for a section. */
export type ReaderKind = 'doer' | 'member' | 'coder';

const rules: Readonly<Record<ReaderKind, string>> = {
  doer: doerRules,
  member: memberRules,
  coder: coderRules,
};

/**
 * The system prompt: what is the same in every run, and nothing else.
 *
 * It ends in a cache breakpoint. Agents that do work have rules only: their role differs within a wave, so it stands in
 * the first user message, after all that the wave shares. There is one planner, so its role stands here.
 */
export function buildSystem(agent: AgentDefinition, kind: ReaderKind = 'doer'): SystemBlock[] {
  if (agent.agent_id !== plannerAgentId) return [{ text: rules[kind], cacheBreakpoint: true }];
  return [
    { text: plannerRules, cacheBreakpoint: true },
    { text: `# Your role: ${agent.agent_id}\n${agent.prompt}`, cacheBreakpoint: true },
  ];
}
