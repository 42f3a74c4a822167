import { z } from 'zod';
import { TeamPlan } from './team.ts';
import type { TeamOutline } from './team.ts';
import { TriadPlan } from './triad.ts';
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
