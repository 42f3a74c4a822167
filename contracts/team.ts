import { z } from 'zod';
import { runSettings } from './run-settings.ts';
import { Slug } from './slug.ts';
import { TriadPlan } from './triad.ts';
import type { TriadOutline } from './triad.ts';

/**
 * Who is in a team (seed 002): an agent, a triad, or another team that has a name. Numbers and lists are bounded by
 * `core/team/check-team.ts` and not here, so that all that is wrong with a team is told at once.
 */
export const TeamMember = z.strictObject({
  id: Slug.describe('Unique in the team. What the leader delegates to.'),
  name: z.string().min(1).max(120).optional().describe('For people. Default: its id.'),
  description: z
    .string()
    .max(1_000)
    .optional()
    .describe("What it is for, as the leader reads it. Default: its agent's own description."),
  agent_id: Slug.optional().describe(
    'The agent that it is. Without agent_id, triad and team_id: the agent that is called as its id.',
  ),
  triad: TriadPlan.optional().describe('Three agents that work together, instead of one.'),
  team_id: Slug.optional().describe('A team with a name, instead of an agent.'),
  capabilities: z
    .array(z.string().min(1).max(120))
    .max(20)
    .optional()
    .describe("What it can do. Default: its agent's own. The leader may delegate to one of them."),
  priority: z
    .number()
    .optional()
    .describe('Of members with the same capability, the highest takes the task. Default 0.'),
  enabled: z.boolean().optional().describe('false: it takes no task. Default true.'),
});
export type TeamMember = z.infer<typeof TeamMember>;

const core = {
  instructions: z
    .string()
    .max(20_000)
    .optional()
    .describe('How the leader is to lead, besides its own role.'),
  members: z.array(TeamMember).optional().describe('At least one.'),
  allow_parallel: z
    .boolean()
    .optional()
    .describe('Whether members work at the same time. Default false: one after the other.'),
  max_parallel: z.number().optional().describe('Members at work at the same time. Default 3.'),
  max_delegations: z
    .number()
    .optional()
    .describe('Tasks that the leader may give out. Default 10.'),
  timeout: z.number().optional().describe('Seconds of work for the whole team. Default 1200.'),
  member_timeout: z
    .number()
    .optional()
    .describe('Seconds of work for one task, its retries included. Default 400.'),
  max_retries: z
    .number()
    .optional()
    .describe(
      'Further attempts at a task that failed, where another may end otherwise. Default 1.',
    ),
};

/** How the planner has a delegation done by a team: one that has a name, or members of its own choice. */
export const TeamPlan = z.strictObject({
  team_id: Slug.optional().describe('A team with a name; then nothing else is given.'),
  ...core,
});
export type TeamPlan = z.infer<typeof TeamPlan>;

const named = z.array(z.string().min(1).max(120)).max(20).optional();

const whole = {
  name: z.string().min(1).max(120).optional(),
  description: z
    .string()
    .max(1_000)
    .optional()
    .describe('When to use it, for planner and leaders.'),
  /** The agent that leads. If undefined, the shipped leader. */
  leader: Slug.optional(),
  /** Instead of the leader's own model. */
  model: z.string().min(1).max(120).optional(),
  ...core,
  /** Names of functions that the worker has: they change the message before the leader reads it, in this order. */
  input_middlewares: named,
  /** As `input_middlewares`, for the answer. */
  output_middlewares: named,
  /** Names of functions that the worker has: each passes a text, changes it, blocks it, or has a person decide. */
  guardrails: z.strictObject({ input: named, output: named }).optional(),
  /** A thread whose messages and delegations the leader is told, and that this run is added to. */
  thread_id: z.string().min(1).max(200).optional(),
  /** Whose thread it is: kept beside each message. */
  user_id: z.string().min(1).max(200).optional(),
};

/** A team with a name. Members of other teams, and plans, may name it. */
export const NamedTeam = z.strictObject({ team_id: Slug, ...whole });
export type NamedTeam = z.infer<typeof NamedTeam>;

/** Teams that a planner may give a delegation to; false: nothing is done by a team. */
export const NamedTeams = z.union(
  [z.literal(false), z.array(NamedTeam).max(20)],
  'expected teams. Try: [{"team_id":"desk","members":[{"id":"writer"}]}], or false',
);

/** What a person types to start a team alone: `{"message":"…","members":["researcher","writer"]}` is enough. */
export const TeamInput = z.strictObject({
  message: z
    .string()
    .trim()
    .min(1, 'expected a message. Try: {"message":"…","members":["researcher","writer"]}')
    .max(20_000),
  /** One of `teams`; then what follows is its own. */
  team_id: Slug.optional(),
  ...whole,
  /** An id alone is the agent of that name. */
  members: z
    .array(
      z.union([z.string(), TeamMember], 'expected a member. Try: "writer", or {"id":"writer"}'),
    )
    .optional(),
  /** Teams that members may name. */
  teams: z.array(NamedTeam).max(20).optional(),
  /** If undefined: one criterion, "The task is done as described." */
  acceptance_criteria: z.array(z.string().min(1).max(1_000)).min(1).max(20).optional(),
  ...runSettings,
});
export type TeamInput = z.infer<typeof TeamInput>;

/** A member without its texts. */
export interface TeamMemberOutline extends Omit<TeamMember, 'triad' | 'name' | 'description'> {
  readonly triad?: TriadOutline;
}

/** What a plan's outline keeps of a team: its texts stay in the store. */
export interface TeamOutline extends Omit<TeamPlan, 'instructions' | 'members'> {
  readonly members?: readonly TeamMemberOutline[];
}

/** What plans are checked against: a team with a name, as a member or an executor of a delegation. */
export interface TeamSummary {
  readonly team_id: string;
  /** Levels of teams below and with it: 1 when no member is a team. */
  readonly depth: number;
  /** Agent that leads it: also where its definition names none. */
  readonly leader: string;
}

/** A function that a worker has under this name, for inputs and outputs of teams. */
export interface MiddlewareName {
  readonly name: string;
  readonly kind: 'middleware' | 'guardrail';
  readonly stages: readonly ('input' | 'output')[];
}
