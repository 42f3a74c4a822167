/**
 * A wave's account, the root of its budgets. It decides which child may use how much of the budgets of run, wave and
 * delegation (seed 004 §13:
 * no silent loss, controlled escalation).
 *
 * Invariants:
 *   BA1. Spent and reserved amounts never exceed a limit, in whatever order children ask, as long as no child spends more
 *        than its reservation.
 *   BA2. Each request is granted or denied once, unless a newer one of its child takes its place while it waits; requests
 *        that wait for the same limit are served oldest first.
 *   BA3. The user is asked when a request does not fit and no working child could give something back; once for each
 *        limit.
 *   BA4. A child that waits for the user or has ended has no reservation: its unspent rest is free again.
 *   BA5. A child that ends without reporting is charged its whole reservation.
 *   BA6. After `finish` and `abandon` nothing is granted, except to the planner that decides on a finished wave.
 *   BA7. Every state takes every event; one that does not fit changes nothing and commands nothing.
 *   BA8. Time counts while a child works and the run is not held; no call begins when it is used up.
 */
import type { BudgetAccount, Reservation, Spending } from '../../contracts/budget.ts';
import { findBinding, sizeGrant } from './account-terms.ts';
import type { AccountChild, AccountState, QueuedRequest, ReachedLimit } from './account-terms.ts';
import { lose, mapSpending, newChild, noSpending, reserve, settle, topUp } from './spending.ts';

/** Id of the planner among the children. It can't equal a delegation_id. */
export const plannerChild = '@planner';

export type AccountEvent =
  | {
      readonly type: 'request';
      readonly child_id: string;
      readonly needs: Spending;
      readonly spent: Spending;
      readonly worked_ms: number;
      /** Reserved for others, so not given back with this request. */
      readonly reserved?: Spending;
    }
  /** The child waits for the user. */
  | { readonly type: 'released'; readonly child_id: string; readonly spent: Spending }
  /** `spent` is null when it is unknown. */
  | { readonly type: 'ended'; readonly child_id: string; readonly spent: Spending | null }
  | { readonly type: 'hold'; readonly held: boolean }
  | {
      readonly type: 'answered';
      readonly limit: ReachedLimit;
      readonly decision: BudgetDecision;
    };

export type BudgetDecision = 'top_up' | 'finish' | 'abandon';

export type AccountCommand =
  | { readonly type: 'grant'; readonly child_id: string; readonly reservation: Reservation }
  | { readonly type: 'deny'; readonly child_id: string; readonly reason: string }
  | { readonly type: 'ask'; readonly limit: ReachedLimit };

export interface AccountStep {
  readonly state: AccountState;
  readonly commands: readonly AccountCommand[];
}

export function beginAccount(
  account: BudgetAccount,
  options: { readonly max_parallel: number; readonly now: number; readonly held: boolean },
): AccountState {
  return {
    ...account,
    ...options,
    children: [],
    queue: [],
    worked_ms: 0,
    asked: [],
    verdict: 'open',
  };
}

/** @param now Unix epoch milliseconds. */
export function stepAccount(state: AccountState, event: AccountEvent, now: number): AccountStep {
  const next = applyEvent(state, event);
  return next === null ? { state, commands: [] } : serve(tick(next, state, now));
}

/** @returns null when the event does not fit the state. */
function applyEvent(state: AccountState, event: AccountEvent): AccountState | null {
  switch (event.type) {
    case 'request':
      return takeRequest(state, event);
    case 'released':
      return update(state, event.child_id, ['working'], (child) => ({
        ...settle(child, { ...child, spent: event.spent }, noSpending),
        state: 'waiting',
      }));
    case 'ended':
      return endChild(state, event.child_id, event.spent);
    case 'hold':
      return event.held === state.held ? null : { ...state, held: event.held };
    case 'answered':
      return takeDecision(state, event.limit, event.decision);
    default:
      return null;
  }
}

function takeRequest(
  state: AccountState,
  event: Extract<AccountEvent, { type: 'request' }>,
): AccountState | null {
  const { child_id, needs, reserved = noSpending } = event;
  const known = state.children.find((child) => child.child_id === child_id);
  if (known?.state === 'ended') return null;
  const before = known ?? openChild(child_id);
  // A request gives the rest of the old reservation back.
  const child: AccountChild = { ...settle(before, event, reserved), state: 'working' };
  const request: QueuedRequest = { child_id, needs: mapSpending((one) => Math.max(0, needs[one])) };
  // The request that it replaces is that of an attempt or a phase that is lost.
  const isQueued = state.queue.some((one) => one.child_id === child_id);
  return {
    ...state,
    children: [...state.children.filter((one) => one.child_id !== child_id), child],
    queue: isQueued
      ? state.queue.map((one) => (one.child_id === child_id ? request : one))
      : [...state.queue, request],
  };
}

function openChild(child_id: string): AccountChild {
  return {
    ...newChild,
    child_id,
    is_planner: child_id === plannerChild,
    state: 'working',
    top_ups: 0,
    is_finished: false,
  };
}

function endChild(
  state: AccountState,
  childId: string,
  spent: Spending | null,
): AccountState | null {
  const ended = update(state, childId, ['working', 'waiting'], (child) => ({
    ...(spent === null ? lose(child) : settle(child, { ...child, spent }, noSpending)),
    state: 'ended',
  }));
  if (ended === null) return null;
  return { ...ended, queue: ended.queue.filter((request) => request.child_id !== childId) };
}

function update(
  state: AccountState,
  childId: string,
  from: readonly AccountChild['state'][],
  change: (child: AccountChild) => AccountChild,
): AccountState | null {
  const found = state.children.find((child) => child.child_id === childId);
  if (found === undefined || !from.includes(found.state)) return null;
  return changeChild(state, childId, change);
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
    return changeChild(answered, limit.delegation_id, (child) =>
      decision === 'top_up'
        ? { ...child, top_ups: child.top_ups + 1 }
        : { ...child, is_finished: true },
    );
  }
  if (decision === 'top_up') return raiseLimit(answered, limit.scope);
  return { ...answered, verdict: limit.scope === 'run' ? 'finish_run' : 'finish_wave' };
}

function raiseLimit(state: AccountState, scope: 'run' | 'wave'): AccountState {
  const raised = topUp(state.limits[scope], state.steps[scope]);
  return { ...state, limits: { ...state.limits, [scope]: raised } };
}

function changeChild(
  state: AccountState,
  childId: string | null,
  change: (child: AccountChild) => AccountChild,
): AccountState {
  const children = state.children.map((one) => (one.child_id === childId ? change(one) : one));
  return { ...state, children };
}

/** Adds the time since the last event, judged by the state before this one. */
function tick(next: AccountState, before: AccountState, now: number): AccountState {
  const passed = Math.max(0, now - before.now);
  const worked_ms = next.worked_ms + (!before.held && countAtWork(before) > 0 ? passed : 0);
  return { ...next, worked_ms, now: Math.max(now, before.now) };
}

/** Serves the requests that fit, and asks the user about the first that can't. */
function serve(state: AccountState): AccountStep {
  const commands: AccountCommand[] = [];
  let current = state;
  let isBlocked = false;
  for (const request of state.queue) {
    const child = current.children.find((one) => one.child_id === request.child_id);
    if (child === undefined) continue;
    const denial = findDenial(current, child);
    if (denial !== null) {
      commands.push({ type: 'deny', child_id: request.child_id, reason: denial });
      current = leaveQueue(current, request);
      continue;
    }
    const binding = findBinding(current, child, request);
    if (binding === 'delegation') {
      current = ask(current, { scope: binding, delegation_id: request.child_id }, commands);
    } else if (binding !== null) {
      isBlocked = true;
    } else if (!isBlocked) {
      current = grant(current, child, request, commands);
    }
  }
  return { state: askWhenIdle(current, commands), commands };
}

function findDenial(state: AccountState, child: AccountChild): string | null {
  if (child.is_finished) return 'its budget is spent, and the user told it to finish';
  if (state.verdict === 'open') return null;
  if (state.verdict === 'abandon') return 'the budget is spent, and the user gave the run up';
  if (state.verdict === 'finish_wave' && child.is_planner) return null;
  const whose = state.verdict === 'finish_run' ? 'run' : 'wave';
  return `the budget of the ${whose} is spent, and the user told it to finish`;
}

function grant(
  state: AccountState,
  child: AccountChild,
  request: QueuedRequest,
  commands: AccountCommand[],
): AccountState {
  const reservation = sizeGrant(state, child, request);
  if (reservation === null) return state;
  commands.push({ type: 'grant', child_id: child.child_id, reservation });
  const children = state.children.map((one) => (one === child ? reserve(one, reservation) : one));
  return leaveQueue({ ...state, children }, request);
}

/** Asks the user only when no working child could give something back: then the first request can never be served. */
function askWhenIdle(state: AccountState, commands: AccountCommand[]): AccountState {
  if (countAtWork(state) > 0) return state;
  for (const request of state.queue) {
    const child = state.children.find((one) => one.child_id === request.child_id);
    const scope = child === undefined ? null : findBinding(state, child, request);
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

function leaveQueue(state: AccountState, request: QueuedRequest): AccountState {
  return { ...state, queue: state.queue.filter((one) => one !== request) };
}

/** Counts the children with a reservation. Each of them will later request more, wait or end. */
function countAtWork({ children, queue }: AccountState): number {
  const queued = new Set(queue.map((request) => request.child_id));
  return children.filter(({ state, child_id }) => state === 'working' && !queued.has(child_id))
    .length;
}

function limitKey({ scope, delegation_id }: ReachedLimit): string {
  return delegation_id ?? `@${scope}`;
}
