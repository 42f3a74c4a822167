import { z } from 'zod';
import { triadPhases, triadTypes } from './names.ts';
import { runSettings } from './limits.ts';
import { Slug } from './agent-definition.ts';

/** Ways in which three members work together (seed 000). Each has a topology of its own. */
export const TriadType = z.enum(triadTypes);
export type TriadType = z.infer<typeof TriadType>;

/** Phases in this order; each is a workflow of its own. */
export const TriadPhase = z.enum(triadPhases);
export type TriadPhase = z.infer<typeof TriadPhase>;

/**
 * `orchestrator` and two `worker`s make a hierarchical triad; `proposer`, `critic` and `synthesizer` a dialectic one; three
 * `peer`s a consensus.
 */
export const TriadRole = z.enum([
  'orchestrator',
  'worker',
  'proposer',
  'critic',
  'synthesizer',
  'peer',
]);
export type TriadRole = z.infer<typeof TriadRole>;

export const TriadMember = z.strictObject({
  name: Slug.describe('Unique in the triad. What the others call it.'),
  role: TriadRole.describe(
    'hierarchical: one orchestrator, two workers. dialectic: one proposer, one critic, one synthesizer. consensus: three peers.',
  ),
  agent_id: Slug.describe(
    'The agent that takes the part, from the registry. May be the same for several.',
  ),
  lens: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe(
      'From which side it looks at the task: "security", "a reader who knows nothing of it".',
    ),
  model: z
    .string()
    .min(1)
    .max(120)
    .optional()
    .describe("Another model than the agent's own. Different models see different things."),
});
export type TriadMember = z.infer<typeof TriadMember>;

export const SpecSection = z.strictObject({
  section_id: Slug,
  text: z.string().min(1).max(4_000).describe('What this part is to be.'),
  criterion_ids: z
    .array(z.string())
    .min(1)
    .max(20)
    .optional()
    .describe(
      'Criteria of the delegation that are met only if this section is agreed. Left out: the one with its id, else all.',
    ),
});
export type SpecSection = z.infer<typeof SpecSection>;

/** Seconds of work; waiting for the user, a pause and a parked run do not count. */
export const TriadTimeouts = z.strictObject({
  turn_seconds: z.number().int().min(1).max(100_000).optional().describe('One turn of one member.'),
  dispatch_seconds: z
    .number()
    .int()
    .min(1)
    .max(100_000)
    .optional()
    .describe('Turns that were dispatched together, until the last of them is done.'),
  round_seconds: z.number().int().min(1).max(100_000).optional().describe('One round.'),
  phase_seconds: z.number().int().min(1).max(1_000_000).optional().describe('One phase.'),
});
export type TriadTimeouts = z.infer<typeof TriadTimeouts>;

/** The planner's choice of three members for a delegation, instead of one agent. */
export const TriadPlan = z.strictObject({
  type: TriadType,
  reason: z
    .string()
    .min(1)
    .max(1_000)
    .describe('Why three members, in this way, are worth several times the calls of one agent.'),
  members: z.array(TriadMember).length(3),
  rounds_max: z
    .number()
    .int()
    .min(1)
    .max(5)
    .optional()
    .describe(
      'Rounds of one phase. Default 3. What is disputed after the last becomes a minority report.',
    ),
  sections: z
    .array(SpecSection)
    .min(1)
    .max(12)
    .optional()
    .describe('The spec to work on. Left out: one section for each acceptance criterion.'),
  timeouts: TriadTimeouts.optional(),
});
export type TriadPlan = z.infer<typeof TriadPlan>;

/** Part of a triad in a plan's outline: the texts of the sections stay in the store. */
export interface TriadOutline extends Omit<TriadPlan, 'sections'> {
  readonly sections: readonly Omit<SpecSection, 'text'>[];
}

const common = {
  type: TriadType,
  task: z
    .string()
    .trim()
    .min(1, 'expected a task. Try: {"type":"dialectic","task":"…"}')
    .max(20_000),
  /** Default: shipped agents that suit the roles, or the first agent. */
  members: z.array(TriadMember).length(3).optional(),
  rounds_max: z.number().int().min(1).max(5).optional(),
  sections: z.array(SpecSection).min(1).max(12).optional(),
  timeouts: TriadTimeouts.optional(),
  /** Default: one criterion, the task itself. */
  acceptance_criteria: z.array(z.string().min(1).max(1_000)).min(1).max(12).optional(),
  ...runSettings,
};

/** Typed input that starts a single triad: `{"type":"dialectic","task":"…"}` is enough. */
export const TriadInput = z.strictObject(common);
export type TriadInput = z.infer<typeof TriadInput>;

/**
 * Typed input that starts a single phase. `negotiate` without `claims` begins with a claim on each section of the first
 * member that may own one; `execute` without `owners` gives that member every section.
 */
export const TriadPhaseInput = z.strictObject({
  ...common,
  phase: TriadPhase,
  /** Summary of the phase before, as Markdown. */
  summary: z.string().min(1).max(100_000).optional(),
  /** Used by `negotiate`. */
  claims: z
    .array(
      z.strictObject({
        section_id: Slug,
        member: Slug,
        proposal: z.string().min(1).max(20_000),
      }),
    )
    .max(36)
    .optional(),
  /** Used by `execute`: maps section_id to the member that owns it. */
  owners: z.record(Slug, Slug).optional(),
});
export type TriadPhaseInput = z.infer<typeof TriadPhaseInput>;
