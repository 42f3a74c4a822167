import { TenantBudget } from '../../contracts/budget.ts';
import type { TenantBudgets, TenantDayView } from '../../contracts/budget.ts';
import { reserveDay, setDayLimit, settleDay, viewDay } from '../../core/budget/tenant-day.ts';
import type { DayReply } from '../../core/budget/tenant-day.ts';
import { spendingOf } from '../../core/budget/spending.ts';
import { commandText } from '../../core/text/format.ts';
import { noUsage } from '../../core/usage/add-usage.ts';
import { usageOfAbort, usageOfAnswer } from '../agent-turn/meter-model.ts';
import type { Pricing } from '../agent-turn/meter-model.ts';
import { StoreUnavailable } from '../ports/artifact-store.ts';
import { detailsWithoutRequest, ModelAborted, ModelFailure } from '../ports/model-client.ts';
import type { ModelClient, ModelRequest, Payer } from '../ports/model-client.ts';
import type { SharedValues } from '../ports/shared-values.ts';
import { changeShared } from './change-shared.ts';

const prefix = 'budget/';

/** The value of a tenant whose budget was removed: a name stays for ever. */
const removed = null;

export interface TenantBudgetOptions {
  readonly values: SharedValues;
  readonly pricing: Pricing;
  /** Returns Unix epoch milliseconds. */
  readonly now?: () => number;
}

/**
 * Limits what the calls of a tenant cost in a day, over all runs and workers of the store.
 *
 * LT1. A call is made only when its worst case is reserved, and is settled when it ends, however it ends.
 * LT2. A call that does not fit is not made, and fails as `TenantBudget`. Where calls in progress may leave room for it, it can
 *      be tried again soon.
 * LT3. A budget that can't be read or written stops the call before it is made. One that can't be settled keeps the
 *      reservation, and loses no reply.
 */
export function limitTenants(
  model: ModelClient,
  { values, pricing, now = Date.now }: TenantBudgetOptions,
): ModelClient {
  return {
    async complete(request, options) {
      const { payer } = options;
      // What costs nothing, or has no known price, takes nothing from a budget.
      if (payer === undefined || payer.worst_micro_usd === 0) {
        return model.complete(request, options);
      }
      const reply = await asFailure(request, () => reserve(values, payer, now()));
      if (reply === null) return model.complete(request, options);
      if (reply.type === 'refused') throw createRefusal(request, reply);
      const settle = (used: number | null) => settleQuietly(values, payer, used);
      try {
        const answer = await model.complete(request, options);
        await settle(spendingOf(usageOfAnswer(pricing, request, answer)).cost_micro_usd);
        return answer;
      } catch (error) {
        await settle(costOfEnd(error, pricing, request));
        throw error;
      }
    },
  };
}

/** @returns null when the tenant has no budget. */
function reserve(values: SharedValues, payer: Payer, now: number): Promise<DayReply | null> {
  const name = nameOf(payer.tenant);
  return changeShared(values, name, (value) => {
    const budget = readBudget(name, value);
    if (budget === null) return { result: null };
    const reply = reserveDay(payer.tenant, budget, payer, now);
    return { ...(reply.type === 'reserved' && { next: reply.budget }), result: reply };
  });
}

async function settleQuietly(
  values: SharedValues,
  payer: Payer,
  used: number | null,
): Promise<void> {
  const name = nameOf(payer.tenant);
  try {
    await changeShared(values, name, (value) => {
      const budget = readBudget(name, value);
      const next = budget === null ? null : settleDay(budget, payer, used);
      return { ...(next !== budget && { next }), result: undefined };
    });
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
  }
}

/** Returns the cost of a call without a reply; null when it is unknown. */
function costOfEnd(error: unknown, pricing: Pricing, request: ModelRequest): number | null {
  if (error instanceof ModelAborted) {
    return spendingOf(usageOfAbort(pricing, request, error)).cost_micro_usd;
  }
  if (!(error instanceof ModelFailure)) return null;
  return spendingOf(error.details.usage ?? noUsage).cost_micro_usd;
}

function createRefusal(
  { model }: ModelRequest,
  { isUsedUp, reason, resume_at }: Extract<DayReply, { type: 'refused' }>,
): ModelFailure {
  return new ModelFailure(reason, {
    type: 'TenantBudget',
    retryable: !isUsedUp,
    details: { ...detailsWithoutRequest(model), resume_at },
  });
}

/** Turns a fault of the store into one of a call that was not made: nothing was billed. */
async function asFailure<T>({ model }: ModelRequest, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    const details = detailsWithoutRequest(model);
    throw new ModelFailure(error.message, { type: error.type, retryable: true, details });
  }
}

/**
 * Opens the budgets of a store. Every method throws StoreUnavailable when the store can't be read or written.
 *
 * @param now Returns Unix epoch milliseconds.
 */
export function createTenantBudgets(
  values: SharedValues,
  now: () => number = Date.now,
): TenantBudgets {
  const read = async (tenant: string): Promise<TenantDayView | null> => {
    const name = nameOf(tenant);
    const budget = readBudget(name, (await values.read(name)).value);
    return budget === null ? null : viewDay(tenant, budget, now());
  };
  return {
    read,
    set: (tenant, limitMicroUsd) =>
      changeShared(values, nameOf(tenant), (value) => {
        const next = setDayLimit(readBudget(nameOf(tenant), value), limitMicroUsd, now());
        return { next, result: viewDay(tenant, next, now()) };
      }),
    list: async () => {
      const listed = await values.list();
      const names = listed.flatMap(({ name }) => (name?.startsWith(prefix) === true ? [name] : []));
      const views = await Promise.all(names.map((name) => read(name.slice(prefix.length))));
      return views.filter((view) => view !== null);
    },
    remove: (tenant) =>
      changeShared(values, nameOf(tenant), (value) =>
        value === undefined || value === removed
          ? { result: false }
          : { next: removed, result: true },
      ),
  };
}

function nameOf(tenant: string): string {
  return `${prefix}${tenant}`;
}

/** @throws {StoreUnavailable} for a value of another shape: without its budget a tenant would be unlimited. */
function readBudget(name: string, value: unknown): TenantBudget | null {
  if (value === undefined || value === removed) return null;
  const read = TenantBudget.safeParse(value);
  if (read.success) return read.data;
  const set = commandText('budget', 'set', name.slice(prefix.length), '--usd-per-day', '50');
  const message = `The shared value ${name} is no budget that this version knows. Try: update planwave, or remove the budget and set it again: ${set}`;
  throw new StoreUnavailable(message, { path: name, code: null });
}
