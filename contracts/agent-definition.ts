import { z } from 'zod';
import { Slug } from './slug.ts';

export const RiskLevel = z.enum(['low', 'medium', 'high']);
export type RiskLevel = z.infer<typeof RiskLevel>;

/** An agent as its Markdown file describes it: front matter plus the role's prompt. */
export const AgentDefinition = z.strictObject({
  agent_id: Slug.describe('From the name in the front matter.'),
  description: z.string().min(1).max(4_000).describe('When to use this agent, for the planner.'),
  capabilities: z.array(z.string().min(1).max(120)).max(20),
  allowed_tools: z.array(z.string().min(1).max(64)).max(50).describe('The tools it may call.'),
  risk_level: RiskLevel.describe('How much harm its effects can do.'),
  model: z
    .string()
    .min(1)
    .max(120)
    .nullable()
    .describe('The model it runs on, or null for the default of the run.'),
  prompt: z.string().min(1).max(50_000).describe('The role, as the model reads it.'),
});
export type AgentDefinition = z.infer<typeof AgentDefinition>;

/** What the engine's rules need to know of an agent. The whole definition is in the run's registry snapshot. */
export interface AgentSummary {
  readonly agent_id: string;
  readonly allowed_tools: readonly string[];
  readonly risk_level: RiskLevel;
  /** It is of no use but as the leader of a team. Absent for all others. */
  readonly only_leads?: true;
}
