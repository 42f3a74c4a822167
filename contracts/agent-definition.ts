import { z } from 'zod';
import { Slug } from './slug.ts';

export const RiskLevel = z.enum(['low', 'medium', 'high']);
export type RiskLevel = z.infer<typeof RiskLevel>;

/** An agent, described by its Markdown file: front matter and the role's prompt. */
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

/** Part of an agent that the engine's rules need. The run's registry snapshot has the whole definition. */
export interface AgentSummary {
  readonly agent_id: string;
  readonly allowed_tools: readonly string[];
  readonly risk_level: RiskLevel;
  /** True for an agent that can only lead a team. Absent for all others. */
  readonly only_leads?: true;
}
