import { z } from 'zod';
import { TriadPlan } from './triad.ts';
import type { TriadOutline } from './triad.ts';
import { runSettings } from './limits.ts';
import { Slug } from './agent-definition.ts';

/**
 * A member of a team (seed 002): an agent, a triad, or another named team. `core/team/check-team.ts` bounds numbers and
 * lists, not this schema, so that all faults of a team are reported at once.
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

/** The planner's choice of a team for a delegation: a named team, or members of its own choice. */
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
  /** Overrides the leader's own model. */
  model: z.string().min(1).max(120).optional(),
  ...core,
  /** Names of functions of the worker that change the message before the leader reads it, in this order. */
  input_middlewares: named,
  /** Names of functions that change the answer, like `input_middlewares`. */
  output_middlewares: named,
  /** Names of functions of the worker: each passes a text, changes it, blocks it, or lets a person decide. */
  guardrails: z.strictObject({ input: named, output: named }).optional(),
  /** A thread whose messages and delegations the leader is given, and to which this run is added. */
  thread_id: z.string().min(1).max(200).optional(),
  /** Owner of the thread: stored with each message. */
  user_id: z.string().min(1).max(200).optional(),
};

/** A named team. Members of other teams, and plans, may refer to it. */
export const NamedTeam = z.strictObject({ team_id: Slug, ...whole });
export type NamedTeam = z.infer<typeof NamedTeam>;

/** Teams that a planner may give a delegation to; false: teams are not allowed. */
export const NamedTeams = z.union(
  [z.literal(false), z.array(NamedTeam).max(20)],
  'expected teams. Try: [{"team_id":"desk","members":[{"id":"writer"}]}], or false',
);

/** Typed input that starts a single team: `{"message":"…","members":["researcher","writer"]}` is enough. */
export const TeamInput = z.strictObject({
  message: z
    .string()
    .trim()
    .min(1, 'expected a message. Try: {"message":"…","members":["researcher","writer"]}')
    .max(20_000),
  /** One of `teams`, which then defines the fields below. */
  team_id: Slug.optional(),
  ...whole,
  /** An id alone names an agent. */
  members: z
    .array(
      z.union([z.string(), TeamMember], 'expected a member. Try: "writer", or {"id":"writer"}'),
    )
    .optional(),
  /** Teams that members may name. */
  teams: z.array(NamedTeam).max(20).optional(),
  /** Default: one criterion, "The task is done as described." */
  acceptance_criteria: z.array(z.string().min(1).max(1_000)).min(1).max(20).optional(),
  ...runSettings,
});
export type TeamInput = z.infer<typeof TeamInput>;

/** A member without its texts. */
export interface TeamMemberOutline extends Omit<TeamMember, 'triad' | 'name' | 'description'> {
  readonly triad?: TriadOutline;
}

/** Part of a team in a plan's outline: its texts stay in the store. */
export interface TeamOutline extends Omit<TeamPlan, 'instructions' | 'members'> {
  readonly members?: readonly TeamMemberOutline[];
}

/** A named team, as a possible member or executor, for checking plans. */
export interface TeamSummary {
  readonly team_id: string;
  /** Levels of nested teams, this one included: 1 when no member is a team. */
  readonly depth: number;
  /** Agent that leads it, also when its definition names none. */
  readonly leader: string;
  /** All agents that work in it and in the teams among its members, its leader first. Absent: any may. */
  readonly agents?: readonly string[];
}

/** A function of the worker for inputs and outputs of teams. */
export interface MiddlewareName {
  readonly name: string;
  readonly kind: 'middleware' | 'guardrail';
  readonly stages: readonly ('input' | 'output')[];
}
