import { z } from 'zod';

/**
 * A name that is safe in workflow ids and paths: lower-case ASCII letters, digits, `-` and `_`, at most 40.
 * No case or Unicode twins, no separators, no leading dot.
 */
export const Slug = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,39}$/,
    'expected 1 to 40 lower-case letters, digits, "-" or "_". Try: "market-research"',
  );

/**
 * A delegation_id in the store: a task of a team has that of its team before its name, `design.d2`, in a team below
 * `design.d2.d1`. At most three dots.
 */
export const StoredDelegationId = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,39}(?:\.[a-z0-9][a-z0-9_-]{0,39}){0,3}$/,
    'expected a delegation_id, and after a dot the name of each task. Try: "design.d2"',
  );

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

/**
 * Property that a tool gives the agents that may call it. An agent with all three could be told by a text to carry
 * private data out: see `core/plan/rule-of-two.ts`.
 *
 * - `untrusted_text`: its results hold what strangers may have written, such as a web page.
 * - `private_data`: its results hold what only the user has, such as files of the workspace.
 * - `acts_outside`: it changes or tells something outside of the run. A command in the sandbox and an edit in a worktree
 *   do not.
 */
export type ToolProperty = 'untrusted_text' | 'private_data' | 'acts_outside';

/** Properties, each with a tool that brings it. */
export type Brought = Readonly<Partial<Record<ToolProperty, string>>>;

/** Properties that travel with results, each with its source: `fetch_page of market-research`. */
export type Taint = Omit<Brought, 'acts_outside'>;

/** Part of an agent that the engine's rules need. The run's registry snapshot has the whole definition. */
export interface AgentSummary {
  readonly agent_id: string;
  readonly allowed_tools: readonly string[];
  readonly risk_level: RiskLevel;
  /** True for an agent that can only lead a team. Absent for all others. */
  readonly only_leads?: true;
  /** Properties that its tools give it. Absent when there are none. */
  readonly brings?: Brought;
}
