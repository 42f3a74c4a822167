/**
 * A wave's account. It decides which spender may use how much of the budgets of run, wave and delegation (seed 004 §13:
 * no silent loss, controlled escalation).
 *
 * Invariants:
 *   BA1. Spent and lent amounts never exceed a limit, in whatever order holders ask, as long as no holder spends more
 *        than its lease.
 *   BA2. Each request is granted or denied once; requests that wait for the same limit are served oldest first.
 *   BA3. The user is asked when a request does not fit and no working holder could give something back; once for each
 *        limit.
 *   BA4. A holder that waits for the user or has ended has no lease: its unspent rest is free again.
 *   BA5. A holder that ends without reporting is charged its whole lease.
 *   BA6. After `finish` and `abandon` nothing is granted, except to the planner that decides on a finished wave.
 *   BA7. Every state takes every event; one that does not fit changes nothing and commands nothing.
 *   BA8. Time counts while a holder works and the run is not held; no call begins when it is used up.
 */
import type { BudgetAccount, Lease, Spending } from '../../contracts/budget.ts';
import type { AccountState, Holder, QueuedWish, ReachedLimit } from './account-state.ts';
import { cutLease, findBinding } from './account-terms.ts';
import { addSpending, mapLimits, mapSpending, maxSpending, noSpending } from './spending.ts';

/** Id of the planner among the holders. It can't equal a delegation_id. */
export const plannerHolder = '@planner';

export type AccountEvent =
  | {
      readonly type: 'wish';
      readonly holder_id: string;
      readonly needs: Spending;
      readonly spent: Spending;
      readonly worked_ms: number;
      /** Reserved for others, so not given back with this request. */
      readonly held?: Spending;
    }
  /** The holder waits for the user. */
  | { readonly type: 'released'; readonly holder_id: string; readonly spent: Spending }
  /** `spent` is null when it is unknown. */
  | { readonly type: 'ended'; readonly holder_id: string; readonly spent: Spending | null }
  | { readonly type: 'hold'; readonly held: boolean }
  | {
      readonly type: 'answered';
      readonly limit: ReachedLimit;
      readonly decision: BudgetDecision;
    };

export type BudgetDecision = 'top_up' | 'finish' | 'abandon';

export type AccountCommand =
  | { readonly type: 'grant'; readonly holder_id: string; readonly lease: Lease }
  | { readonly type: 'deny'; readonly holder_id: string; readonly reason: string }
  | { readonly type: 'ask'; readonly limit: ReachedLimit };

export interface AccountStep {
  readonly state: AccountState;
  readonly commands: readonly AccountCommand[];
}

export function openAccount(
  account: BudgetAccount,
  options: { readonly max_parallel: number; readonly now: number; readonly held: boolean },
): AccountState {
  return {
    ...account,
    ...options,
    holders: [],
    queue: [],
    worked_ms: 0,
    asked: [],
    verdict: 'open',
  };
}

/** @param now Unix epoch milliseconds. */
export function stepAccount(state: AccountState, event: AccountEvent, now: number): AccountStep {
  const next = applyEvent(state, event);
  return next === null ? { state, commands: [] } : settle(tick(next, state, now));
}

/** @returns null when the event does not fit the state. */
function applyEvent(state: AccountState, event: AccountEvent): AccountState | null {
  switch (event.type) {
    case 'wish':
      return takeWish(state, event);
    case 'released':
      return update(state, event.holder_id, ['working'], (holder) => ({
        ...holder,
        state: 'waiting',
        spent: maxSpending(holder.spent, event.spent),
      }));
    case 'ended':
      return endHolder(state, event.holder_id, event.spent);
    case 'hold':
      return event.held === state.held ? null : { ...state, held: event.held };
    case 'answered':
      return takeDecision(state, event.limit, event.decision);
    default:
      return null;
  }
}

function takeWish(
  state: AccountState,
  event: Extract<AccountEvent, { type: 'wish' }>,
): AccountState | null {
  const { holder_id, needs } = event;
  const known = state.holders.find((holder) => holder.holder_id === holder_id);
  if (known?.state === 'ended' || isQueued(state, holder_id)) return null;
  const before = known ?? newHolder(holder_id);
  const spent = maxSpending(before.spent, event.spent);
  const worked_ms = Math.max(before.worked_ms, event.worked_ms);
  // A request gives the rest of the old lease back.
  const granted = addSpending(spent, event.held ?? noSpending);
  const holder: Holder = { ...before, state: 'working', spent, granted, worked_ms };
  const wish: QueuedWish = { holder_id, needs: mapSpending((one) => Math.max(0, needs[one])) };
  return {
    ...state,
    holders: [...state.holders.filter((one) => one.holder_id !== holder_id), holder],
    queue: [...state.queue, wish],
  };
}

function newHolder(holder_id: string): Holder {
  return {
    holder_id,
    is_planner: holder_id === plannerHolder,
    state: 'working',
    granted: noSpending,
    spent: noSpending,
    worked_ms: 0,
    top_ups: 0,
    is_finished: false,
  };
}

function endHolder(
  state: AccountState,
  holderId: string,
  spent: Spending | null,
): AccountState | null {
  const ended = update(state, holderId, ['working', 'waiting'], (holder) => ({
    ...holder,
    state: 'ended',
    spent: maxSpending(holder.spent, spent ?? holder.granted),
  }));
  if (ended === null) return null;
  return { ...ended, queue: ended.queue.filter((wish) => wish.holder_id !== holderId) };
}

function update(
  state: AccountState,
  holderId: string,
  from: readonly Holder['state'][],
  change: (holder: Holder) => Holder,
): AccountState | null {
  const found = state.holders.find((holder) => holder.holder_id === holderId);
  if (found === undefined || !from.includes(found.state)) return null;
  return changeHolder(state, holderId, change);
}

function takeDecision(
  state: AccountState,
  limit: ReachedLimit,
  decision: BudgetDecision,
): AccountState | null {
  const key = limitKey(limit);
  if (!state.asked.includes(key)) return null;
  const answered = { ...state, asked: state.asked.filter((one) => one !== key) };
  if (decision === 'abandon') return { ...answered, verdict: 'abandon' };
  if (limit.scope === 'delegation') {
    return changeHolder(answered, limit.delegation_id, (holder) =>
      decision === 'top_up'
        ? { ...holder, top_ups: holder.top_ups + 1 }
        : { ...holder, is_finished: true },
    );
  }
  if (decision === 'top_up') return topUp(answered, limit.scope);
  return { ...answered, verdict: limit.scope === 'run' ? 'finish_run' : 'finish_wave' };
}

function topUp(state: AccountState, scope: 'run' | 'wave'): AccountState {
  const step = state.steps[scope];
  const limits = mapLimits(state.limits[scope], (limit, measure) => limit + (step[measure] ?? 0));
  return { ...state, limits: { ...state.limits, [scope]: limits } };
}

function changeHolder(
  state: AccountState,
  holderId: string | null,
  change: (holder: Holder) => Holder,
): AccountState {
  const holders = state.holders.map((one) => (one.holder_id === holderId ? change(one) : one));
  return { ...state, holders };
}

/** Adds the time since the last event, judged by the state before this one. */
function tick(next: AccountState, before: AccountState, now: number): AccountState {
  const passed = Math.max(0, now - before.now);
  const worked_ms = next.worked_ms + (!before.held && countAtWork(before) > 0 ? passed : 0);
  return { ...next, worked_ms, now: Math.max(now, before.now) };
}

/** Serves the requests that fit, and asks the user about the first that can't. */
function settle(state: AccountState): AccountStep {
  const commands: AccountCommand[] = [];
  let current = state;
  let isBlocked = false;
  for (const wish of state.queue) {
    const holder = current.holders.find((one) => one.holder_id === wish.holder_id);
    if (holder === undefined) continue;
    const denial = findDenial(current, holder);
    if (denial !== null) {
      commands.push({ type: 'deny', holder_id: wish.holder_id, reason: denial });
      current = leaveQueue(current, wish);
      continue;
    }
    const binding = findBinding(current, holder, wish);
    if (binding === 'delegation') {
      current = ask(current, { scope: binding, delegation_id: wish.holder_id }, commands);
    } else if (binding !== null) {
      isBlocked = true;
    } else if (!isBlocked) {
      current = grant(current, holder, wish, commands);
    }
  }
  return { state: askWhenIdle(current, commands), commands };
}

function findDenial(state: AccountState, holder: Holder): string | null {
  if (holder.is_finished) return 'its budget is spent, and the user told it to finish';
  if (state.verdict === 'open') return null;
  if (state.verdict === 'abandon') return 'the budget is spent, and the user gave the run up';
  if (state.verdict === 'finish_wave' && holder.is_planner) return null;
  const whose = state.verdict === 'finish_run' ? 'run' : 'wave';
  return `the budget of the ${whose} is spent, and the user told it to finish`;
}

function grant(
  state: AccountState,
  holder: Holder,
  wish: QueuedWish,
  commands: AccountCommand[],
): AccountState {
  const lease = cutLease(state, holder, wish, state.now);
  commands.push({ type: 'grant', holder_id: holder.holder_id, lease });
  const granted = mapSpending((measure) => holder.granted[measure] + (lease[measure] ?? 0));
  const holders = state.holders.map((one) => (one === holder ? { ...one, granted } : one));
  return leaveQueue({ ...state, holders }, wish);
}

/** Asks the user only when no working holder could give something back: then the first request can never be served. */
function askWhenIdle(state: AccountState, commands: AccountCommand[]): AccountState {
  if (countAtWork(state) > 0) return state;
  for (const wish of state.queue) {
    const holder = state.holders.find((one) => one.holder_id === wish.holder_id);
    const scope = holder === undefined ? null : findBinding(state, holder, wish);
    if (scope === 'run' || scope === 'wave') {
      return ask(state, { scope, delegation_id: null }, commands);
    }
  }
  return state;
}

function ask(state: AccountState, limit: ReachedLimit, commands: AccountCommand[]): AccountState {
  const key = limitKey(limit);
  if (state.asked.includes(key)) return state;
  commands.push({ type: 'ask', limit });
  return { ...state, asked: [...state.asked, key] };
}

function leaveQueue(state: AccountState, wish: QueuedWish): AccountState {
  return { ...state, queue: state.queue.filter((one) => one !== wish) };
}

/** Counts the holders of a lease. Each of them will later request more, wait or end. */
function countAtWork({ holders, queue }: AccountState): number {
  const queued = new Set(queue.map((wish) => wish.holder_id));
  return holders.filter(({ state, holder_id }) => state === 'working' && !queued.has(holder_id))
    .length;
}

function isQueued({ queue }: AccountState, holderId: string): boolean {
  return queue.some((wish) => wish.holder_id === holderId);
}

function limitKey({ scope, delegation_id }: ReachedLimit): string {
  return delegation_id ?? `@${scope}`;
}
