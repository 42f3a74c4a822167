import { z } from 'zod';
import { TeamPlan } from './team.ts';
import { VerificationOrder } from './verification.ts';
import type { VerifierTriad } from './verification.ts';
import { TriadPlan } from './triad.ts';
import { Slug } from './agent-definition.ts';
import type { TeamOutline } from './team.ts';
import type { TriadOutline, TriadType } from './triad.ts';

/**
 * The party that carries out a delegation. `agent` is the delegation's `agent_id` itself; the others name more than one
 * agent, and `agent_id` is the one that answers for the result: it writes a triad's output, or leads the team.
 */
export const Executor = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('agent') }),
  TriadPlan.extend({ kind: z.literal('triad') }),
  TeamPlan.extend({ kind: z.literal('team') }),
]);
export type Executor = z.infer<typeof Executor>;

export type ExecutorKind = Executor['kind'];

export type ExecutorOf<E extends { readonly kind: ExecutorKind }, K extends ExecutorKind> = Extract<
  E,
  { readonly kind: K }
>;

interface AgentExecutor {
  readonly kind: 'agent';
}

/** Part of an executor that a plan's outline keeps: its texts stay in the store. */
export type ExecutorOutline =
  | AgentExecutor
  | (TriadOutline & { readonly kind: 'triad' })
  | (TeamOutline & { readonly kind: 'team' });

/** Part of an executor that people see before it works. */
export type PlannedExecutor =
  | AgentExecutor
  | { readonly kind: 'triad'; readonly type: TriadType }
  /** `team_id` is null for a team without a name. */
  | { readonly kind: 'team'; readonly team_id: string | null };

export const AcceptanceCriterion = z.strictObject({
  criterion_id: Slug,
  description: z.string().min(1).max(1_000).describe('A statement that can be checked.'),
});
export type AcceptanceCriterion = z.infer<typeof AcceptanceCriterion>;

const fields = {
  delegation_id: Slug.describe('Unique in the whole run.'),
  agent_id: Slug.describe(
    'The agent that does it, from the registry. With triad: the agent of the member that writes its output. With team: the one that leads.',
  ),
  title: z.string().min(1).max(120).describe('A few words for people who watch.'),
  task_description: z.string().min(1).max(20_000),
  acceptance_criteria: z
    .array(AcceptanceCriterion)
    .min(1)
    .max(20)
    .describe(
      'A criterion_id that is still open may be listed again: this delegation then tries to meet it.',
    ),
  required_inputs: z
    .array(z.string().min(1).max(120))
    .max(50)
    .describe(
      'Names of what the task needs: a known input, or something another delegation produces.',
    ),
  provided_inputs: z
    .array(z.string().min(1).max(120))
    .max(50)
    .default([])
    .describe('The required inputs that exist already. The engine adds those that are missing.'),
  depends_on: z
    .array(Slug)
    .max(50)
    .describe(
      'delegation_ids of this wave that must be done first. The engine adds those that produce a required input.',
    ),
  produces: z
    .array(z.string().min(1).max(120))
    .max(20)
    .describe(
      'Names under which later delegations can require the output. May be empty: the delegation_id always works.',
    ),
  needs: z
    .enum(['completed', 'met'])
    .optional()
    .describe(
      '"met": starts only when all that it depends on met all of its criteria. Default "completed": any completed output will do.',
    ),
  redoes: Slug.optional().describe(
    'Only to do a stale delegation again: its delegation_id. This one may then be as that one was.',
  ),
  replaces: Slug.optional().describe(
    'The delegation_id whose result this one replaces, wherever it was used: completed in an earlier wave, or one that this one depends on.',
  ),
};

/** One task for one executor (seed 004 §3.1). */
export const Delegation = z.strictObject({
  ...fields,
  executor: Executor,
  /** Absent: the output counts as its author gives it. */
  verification: VerificationOrder.optional(),
  /** The delegation whose questions it decides. Its criteria are none of the run's then. Absent for other work. */
  answers: Slug.optional(),
  /** The delegation whose output it judges: it changes nothing. Absent for other work. */
  judges: z.string().optional(),
});
export type Delegation = z.infer<typeof Delegation>;

/**
 * A delegation as a planner writes it and a person types it: with a triad, a team, or neither. A planner's schema has no
 * room for a union of whole objects, and nobody has to type a kind.
 */
export const WrittenDelegation = z.strictObject({
  ...fields,
  triad: TriadPlan.optional().describe(
    'Only where three members are to do it together. Most tasks need one agent.',
  ),
  team: TeamPlan.optional().describe(
    'Only where a leader is to divide the task among members and bring their results together. agent_id is the leader.',
  ),
});
export type WrittenDelegation = z.infer<typeof WrittenDelegation>;

/**
 * Reads a delegation that was written.
 *
 * Invariants:
 *   PTS2. A delegation is done by a triad or by a team, never by both.
 */
export const ReadDelegation = WrittenDelegation.transform(
  ({ triad, team, ...rest }, context): Delegation => {
    if (triad !== undefined && team !== undefined) {
      context.addIssue({
        code: 'custom',
        path: ['team'],
        message:
          'a delegation is done by a triad or by a team, not by both. Try: leave one of them out',
      });
    }
    if (team !== undefined) return { ...rest, executor: { kind: 'team', ...team } };
    if (triad !== undefined) return { ...rest, executor: { kind: 'triad', ...triad } };
    return { ...rest, executor: { kind: 'agent' } };
  },
);

/** Part of a delegation that the engine's rules need. Texts stay in the store. */
export interface DelegationOutline extends Omit<
  Delegation,
  'task_description' | 'acceptance_criteria' | 'executor' | 'verification'
> {
  readonly executor: ExecutorOutline;
  readonly criterion_ids: readonly string[];
  /** Hash of agent, task, inputs and criteria: equal for two delegations that would do the same work. */
  readonly fingerprint: string;
  /**
   * Reason why each of its acting calls needs an approval, by `core/plan/rule-of-two.ts`. Absent: each tool's own rule
   * decides.
   */
  readonly rule_of_two?: string;
  /** Defined in Delegation; its checks stay in the store. */
  readonly verification?: {
    readonly verified_by: string;
    /** agent_ids of the triad that judges before `verified_by` gives the verdict. Absent: no triad does. */
    readonly triad_agents?: readonly string[];
    /** Triad of the verifier, where the engine added it: the plan in the store does not name it. */
    readonly triad?: VerifierTriad;
    /** Verifier of an output with changed files, such as the tester. Absent: `verified_by` too. */
    readonly verified_by_for_files?: string;
    /** Agents that may have written the output of a team. Absent for other executors. */
    readonly authors?: readonly string[];
    /** True when a check runs a command, which may change files. */
    readonly runs_commands?: true;
  };
}
