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

export const BudgetAmounts = z.strictObject(amounts);
export type BudgetAmounts = z.infer<typeof BudgetAmounts>;

/** Limits on what a run may spend: `{"usd":5}` is enough. A missing field has no limit. */
export const BudgetInput = z.strictObject({
  ...amounts,
  wave: BudgetAmounts.optional().describe('For each wave.'),
  delegation: BudgetAmounts.optional().describe('For each delegation.'),
});
export type BudgetInput = z.infer<typeof BudgetInput>;

/** Use of model calls. A model without a known price counts with its tokens, not with money. */
export interface Spending {
  readonly calls: number;
  readonly tokens: number;
  /** Millionths of a US dollar. */
  readonly cost_micro_usd: number;
}

/** Null where there is no limit. */
export interface BudgetLimits {
  readonly calls: number | null;
  readonly tokens: number | null;
  readonly cost_micro_usd: number | null;
  /** Milliseconds of work. */
  readonly worked_ms: number | null;
}

export type BudgetScope = 'run' | 'wave' | 'delegation';

export type RunBudget = Readonly<Record<BudgetScope, BudgetLimits>>;

/** State of a run's budget between two waves. */
export interface CarriedBudget {
  readonly limits: RunBudget;
  /** Amounts that `top_up` adds to each scope: its limits as typed. */
  readonly steps: RunBudget;
  /** Milliseconds of work so far. */
  readonly worked_ms: number;
}

/** Part of the run's budget that is reserved for a wave. */
export interface BudgetAccount {
  readonly limits: RunBudget;
  readonly steps: RunBudget;
  /** Spent by the run before this wave. */
  readonly before: Spending;
  readonly before_worked_ms: number;
}

/** Expected use of a wave, estimated when it was planned. Tokens in and out, those of the cache included. */
export interface FanOutEstimate {
  readonly delegations: number;
  readonly tokens: number;
}

/**
 * Amounts that a delegation may spend before it asks for more. They are reserved in its wave's account, so that all
 * reservations together never exceed a limit. Null where there is no limit.
 */
export interface Reservation {
  readonly calls: number | null;
  readonly tokens: number | null;
  readonly cost_micro_usd: number | null;
  /** Unix epoch milliseconds after which no call may begin. */
  readonly until: number | null;
}

/** Amounts that a model call may spend. The activity refuses a call whose worst case is more. */
export type Allowance = Omit<Reservation, 'until'>;

/** Needs of a spender, and its use so far. */
export interface BudgetNeeds {
  /** Worst case of the next call. */
  readonly needs: Spending;
  /** Total that it has spent. */
  readonly spent: Spending;
  /** Total milliseconds that it has worked. */
  readonly worked_ms: number;
  /** Part of its reservation that it keeps, because others spend it. If undefined, the whole rest goes back. */
  readonly reserved?: Spending;
}

/** Answer to a request. */
export interface BudgetReply {
  /** Null when nothing more is granted. */
  readonly reservation: Reservation | null;
  /** Reason why nothing is granted, otherwise empty. */
  readonly reason: string;
}

/** A delegation's request to its wave. */
export interface BudgetRequest extends BudgetNeeds {
  readonly request_id: string;
}

/** Payload of `grant`, from a wave to a delegation. */
export interface BudgetGrant extends BudgetReply {
  readonly request_id: string;
}

/**
 * A tenant's budget with the use of its newest day, as all workers of a store share it. Money in millionths of a US dollar.
 */
export const TenantBudget = z.strictObject({
  limit_micro_usd: z.number().positive(),
  /** The newest day of UTC on which a call was reserved, counted from the epoch. */
  day: z.int(),
  spent_micro_usd: z.number().nonnegative(),
  /** The worst case of each call in progress, by the call. */
  reserved: z.record(
    z.string(),
    z.strictObject({
      /** The attempt at the call, from 1. */
      attempt: z.int().positive(),
      micro_usd: z.number().nonnegative(),
      /** Unix epoch milliseconds. */
      at: z.number(),
    }),
  ),
});
export type TenantBudget = z.infer<typeof TenantBudget>;

/** A tenant's budget, for people. Money in millionths of a US dollar. */
export interface TenantDayView {
  readonly tenant: string;
  readonly limit_micro_usd: number;
  readonly spent_micro_usd: number;
  readonly reserved_micro_usd: number;
  /** Unix epoch seconds at which the day of UTC ends. */
  readonly ends_at: number;
}

/** Budgets of tenants in a store, for people. */
export interface TenantBudgets {
  /** Sets the limit of a day, in millionths of a US dollar. What the day has spent stays. */
  set(tenant: string, limitMicroUsd: number): Promise<TenantDayView>;
  /** @returns null when the tenant has no budget. */
  read(tenant: string): Promise<TenantDayView | null>;
  /** Sorted by tenant. */
  list(): Promise<readonly TenantDayView[]>;
  /** @returns false when there was none. */
  remove(tenant: string): Promise<boolean>;
}
