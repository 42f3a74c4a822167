import { plannerAgentId } from '../../contracts/names.ts';
import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { SystemBlock } from '../ports/model-client.ts';
import { coderRules } from './coder-rules.ts';
import { doerRules } from './doer-rules.ts';
import { leaderRules } from './leader-rules.ts';
import { memberRules } from './member-rules.ts';
import { plannerRules } from './planner-rules.ts';

/** In which part an agent works: a delegation alone, a member of a triad, the leader of a team, or one that writes code. */
export type ReaderKind = 'doer' | 'member' | 'leader' | 'coder';

const rules: Readonly<Record<ReaderKind, string>> = {
  doer: doerRules,
  member: memberRules,
  leader: leaderRules,
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
