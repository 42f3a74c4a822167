import { z } from 'zod';

const amounts = {
  usd: z.number().positive().max(1_000_000).optional().describe('US dollars.'),
  tokens: z
    .number()
    .int()
    .min(1)
    .max(1_000_000_000_000)
    .optional()
    .describe('Tokens in and out, those of the prompt cache included.'),
  calls: z.number().int().min(1).max(1_000_000).optional().describe('Model calls.'),
  minutes: z
    .number()
    .positive()
    .max(525_600)
    .optional()
    .describe('Minutes of work. Waiting for people and pauses do not count.'),
};

const BudgetAmounts = z.strictObject(amounts);
export type BudgetAmounts = z.infer<typeof BudgetAmounts>;

/** What a run may spend: `{"usd":5}` is enough. What is left out has no limit. */
export const BudgetInput = z.strictObject({
  ...amounts,
  wave: BudgetAmounts.optional().describe('For each wave.'),
  delegation: BudgetAmounts.optional().describe('For each delegation.'),
});
export type BudgetInput = z.infer<typeof BudgetInput>;

/** What model calls take. Money of a model without a known price is not in it; its tokens are. */
export interface Spending {
  readonly calls: number;
  readonly tokens: number;
  /** Millionths of a US dollar. */
  readonly cost_micro_usd: number;
}

/** Null: no limit. */
export interface BudgetLimits {
  readonly calls: number | null;
  readonly tokens: number | null;
  readonly cost_micro_usd: number | null;
  /** Milliseconds of work. */
  readonly worked_ms: number | null;
}

export type BudgetScope = 'run' | 'wave' | 'delegation';

/** The limits of a run, of each wave and of each delegation. */
export type RunBudget = Readonly<Record<BudgetScope, BudgetLimits>>;

/** What a run knows of its budget between two waves. */
export interface CarriedBudget {
  readonly limits: RunBudget;
  /** What `top_up` adds to a scope: its limits as they were typed. */
  readonly steps: RunBudget;
  /** Milliseconds of work so far. */
  readonly worked_ms: number;
}

/** What a wave is lent of its run's budget. */
export interface BudgetAccount {
  readonly limits: RunBudget;
  readonly steps: RunBudget;
  /** Spent by the run before this wave. */
  readonly before: Spending;
  readonly before_worked_ms: number;
}

/** What a wave is expected to take, made when it was planned. Tokens in and out, those of the cache included. */
export interface FanOutEstimate {
  readonly delegations: number;
  readonly tokens: number;
}

/**
 * What a delegation may spend before it asks for more. Reserved in its wave's account, so that all leases together
 * never pass a limit. Null: no limit.
 */
export interface Lease {
  readonly calls: number | null;
  readonly tokens: number | null;
  readonly cost_micro_usd: number | null;
  /** Unix epoch milliseconds after which no call may begin. */
  readonly until: number | null;
}

/** What a model call may spend. The activity refuses to make one whose worst case is more. */
export type Allowance = Omit<Lease, 'until'>;

/** What a spender needs, and where it stands. */
export interface LeaseWish {
  /** What the next call may take at worst. */
  readonly needs: Spending;
  /** What it has spent in all. */
  readonly spent: Spending;
  /** Milliseconds that it has worked in all. */
  readonly worked_ms: number;
  /** What it keeps of its lease, because others spend it in its stead. If undefined, all that is not spent goes back. */
  readonly held?: Spending;
}

/** What came of a wish. */
export interface LeaseReply {
  /** Null when nothing is granted any more. */
  readonly lease: Lease | null;
  /** Why nothing is granted; else empty. */
  readonly reason: string;
}

/** What a delegation asks of its wave. */
export interface LeaseRequest extends LeaseWish {
  readonly request_id: string;
}

/** Payload of `grant`, from a wave to a delegation. */
export interface LeaseGrant extends LeaseReply {
  readonly request_id: string;
}
