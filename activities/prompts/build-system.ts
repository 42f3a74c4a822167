import type { AgentDefinition } from '../../contracts/agent-definition.ts';
import type { PlanningTerms } from '../../contracts/transcript.ts';
import type { SystemBlock } from '../ports/model-client.ts';
import { coderRules } from './coder-rules.ts';
import { doerRules } from './doer-rules.ts';
import { leaderRules } from './leader-rules.ts';
import { memberRules } from './member-rules.ts';
import { decisionRules, planRules, reviewRules } from './planner-rules.ts';

/**
 * In which part an agent works: a delegation alone, a member of a triad, the leader of a team, one that writes code, or the
 * planner, by what it is asked for.
 */
export type ReaderKind =
  | 'doer'
  | 'member'
  | 'leader'
  | 'coder'
  | 'plan'
  | 'decision'
  | 'question_review';

const doers = {
  doer: doerRules,
  member: memberRules,
  leader: leaderRules,
  coder: coderRules,
} as const;

/**
 * The system prompt: what is the same in every run with the same settings, and nothing else.
 *
 * It ends in a cache breakpoint. Agents that do work have rules only: their role differs within a wave, so it stands in
 * the first user message, after all that the wave shares. There is one planner, so its role stands here.
 *
 * @param planning what a plan may hold. If null, no triads and no teams.
 */
export function buildSystem(
  agent: AgentDefinition,
  kind: ReaderKind,
  planning: Pick<PlanningTerms, 'triads' | 'teams'> | null,
): SystemBlock[] {
  if (kind !== 'plan' && kind !== 'decision' && kind !== 'question_review') {
    return [{ text: doers[kind], cacheBreakpoint: true }];
  }
  return [
    { text: rulesFor(kind, planning), cacheBreakpoint: true },
    { text: `# Your role: ${agent.agent_id}\n${agent.prompt}`, cacheBreakpoint: true },
  ];
}

function rulesFor(
  kind: 'plan' | 'decision' | 'question_review',
  planning: Pick<PlanningTerms, 'triads' | 'teams'> | null,
): string {
  switch (kind) {
    case 'plan':
      return planRules(planning ?? { triads: false, teams: false });
    case 'decision':
      return decisionRules;
    case 'question_review':
      return reviewRules;
  }
}
