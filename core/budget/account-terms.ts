/** State of a wave's account, and the remaining amounts of its scopes; `step-account.ts` has the rules. */
import type {
  BudgetAccount,
  BudgetLimits,
  BudgetScope,
  Reservation,
  Spending,
} from '../../contracts/budget.ts';
import { addSpending, mapLimits, chargeOf, fits, sizeReservation, noSpending } from './spending.ts';
import type { BudgetChild } from './spending.ts';
import type { AskedQuestion } from '../../contracts/question.ts';

/** A delegation, or the planner of the wave. */
export interface AccountChild extends BudgetChild {
  readonly child_id: string;
  readonly is_planner: boolean;
  /** `waiting`: for the user, without a reservation. `ended`: what it spent is known. */
  readonly state: 'working' | 'waiting' | 'ended';
  /** Number of times its own limit was raised. */
  readonly top_ups: number;
  /** True when the user decided to finish with the available results. */
  readonly is_finished: boolean;
}

/** A request that has not been granted yet. */
export interface QueuedRequest {
  readonly child_id: string;
  readonly needs: Spending;
}

export interface AccountState extends BudgetAccount {
  readonly max_parallel: number;
  readonly children: readonly AccountChild[];
  /** Oldest request first. */
  readonly queue: readonly QueuedRequest[];
  /** Milliseconds of work in this wave so far. */
  readonly worked_ms: number;
  /** Unix epoch milliseconds of the last event. */
  readonly now: number;
  /** True while the run is paused or parked: its clock stands still. */
  readonly held: boolean;
  /** Limits about which the user was asked and has not answered: a scope, or a delegation's id. */
  readonly asked: readonly string[];
  readonly verdict: 'open' | 'finish_wave' | 'finish_run' | 'abandon';
}

/** A limit that stops a child. */
export interface ReachedLimit {
  readonly scope: BudgetScope;
  /** Null unless the scope is `delegation`. */
  readonly delegation_id: string | null;
}

/** Spent, with the milliseconds of work. */
type Spent = Spending & { readonly worked_ms: number };

/** Sums what the children are charged, and for the run also what earlier waves spent. */
function spentOf(state: AccountState, scope: 'run' | 'wave'): Spent {
  const isRun = scope === 'run';
  const spent = addSpending(...state.children.map(chargeOf), ...(isRun ? [state.before] : []));
  return { ...spent, worked_ms: state.worked_ms + (isRun ? state.before_worked_ms : 0) };
}

/** Multiplies a delegation's limits by its top-ups. */
function ownLimits(state: AccountState, { top_ups }: AccountChild): BudgetLimits {
  return mapLimits(state.limits.delegation, (limit) => limit * (1 + top_ups));
}

/** @returns the scope whose limit the request exceeds, or null when it fits everywhere. */
export function findBinding(
  state: AccountState,
  child: AccountChild,
  { needs }: QueuedRequest,
): BudgetScope | null {
  const own = ownLeft(state, child);
  if (own !== null && !hasRoom(needs, own)) return 'delegation';
  if (!hasRoom(needs, leftOf(state, 'run'))) return 'run';
  return isExempt(state, child) || hasRoom(needs, leftOf(state, 'wave')) ? null : 'wave';
}

/** Sizes the reservation for a request that fits. @returns null when it does not. */
export function sizeGrant(
  state: AccountState,
  child: AccountChild,
  { needs }: QueuedRequest,
): Reservation | null {
  const wave = leftOf(state, 'wave');
  const spare = isExempt(state, child)
    ? mapLimits(wave, (left, one) => (one === 'worked_ms' ? left : Math.max(left, needs[one])))
    : wave;
  const scopes = [leftOf(state, 'run'), spare, ownLeft(state, child)].filter(
    (left) => left !== null,
  );
  const free = (measure: keyof BudgetLimits): number | null =>
    smallest(scopes.map((left) => left[measure]));
  const time = free('worked_ms');
  return sizeReservation(
    { calls: free('calls'), tokens: free('tokens'), cost_micro_usd: free('cost_micro_usd') },
    needs,
    state.max_parallel,
    time === null ? null : state.now + time,
  );
}

/** Returns true for the planner that still decides on a wave that the user told to finish. */
function isExempt(state: AccountState, child: AccountChild): boolean {
  return child.is_planner && state.verdict === 'finish_wave';
}

function leftOf(state: AccountState, scope: 'run' | 'wave'): BudgetLimits {
  return subtract(state.limits[scope], spentOf(state, scope));
}

/** Returns the rest of a delegation's own limit, or null for the planner, which has none. */
function ownLeft(state: AccountState, child: AccountChild): BudgetLimits | null {
  if (child.is_planner) return null;
  return subtract(ownLimits(state, child), { ...chargeOf(child), worked_ms: child.worked_ms });
}

function subtract(limits: BudgetLimits, taken: Spent): BudgetLimits {
  return mapLimits(limits, (limit, measure) => limit - taken[measure]);
}

/** Compares a request with what is left. Time is not reserved: a call may begin while any is left. */
function hasRoom(needs: Spending, left: BudgetLimits): boolean {
  return (left.worked_ms === null || left.worked_ms > 0) && fits(needs, left);
}

function smallest(amounts: readonly (number | null)[]): number | null {
  const limited = amounts.filter((amount) => amount !== null);
  return limited.length === 0 ? null : Math.min(...limited);
}

/** Words the question that the user is asked at a limit, and budgets in general. */

export function budgetQuestion(state: AccountState, limit: ReachedLimit): AskedQuestion {
  const { scope, delegation_id } = limit;
  const whose = delegation_id === null ? `the ${scope}` : `delegation ${delegation_id}`;
  const finish = {
    run: 'finish: end the run with what there is.',
    wave: 'finish: end the wave with what there is, and let the planner decide on it.',
    delegation: 'finish: end this delegation as failed; the others go on.',
  }[scope];
  return {
    text: `${describeReached(state, limit, whose)} What now?`,
    why_it_matters: `top_up: as much again (${describeLimits(state.steps[scope])}). ${finish} abandon: end the run without a result.`,
    priority: 'critical',
    expected_answer_format: 'choice',
    choices: ['top_up', 'finish', 'abandon'],
    default_answer: 'finish',
  };
}

/** Says that a limit is reached, or that what is left may not hold the next call: its worst case is reserved first. */
function describeReached(state: AccountState, limit: ReachedLimit, whose: string): string {
  const { spent, limits } = compare(state, limit);
  const soFar = describeAgainst(spent, limits);
  const isSpent = units.some(({ measure }) => spent[measure] >= (limits[measure] ?? Infinity));
  const needs = state.queue.find(({ child_id }) => isOfScope(child_id, limit))?.needs;
  if (isSpent || needs === undefined) return `The budget of ${whose} is spent: ${soFar}.`;
  const worst = mapLimits({ ...limits, worked_ms: null }, (most, measure) =>
    measure === 'worked_ms' ? most : needs[measure],
  );
  return `The budget of ${whose} may not hold the next call, which can take up to ${describeLimits(worst)}: so far ${soFar}.`;
}

function isOfScope(childId: string, { delegation_id }: ReachedLimit): boolean {
  return delegation_id === null || delegation_id === childId;
}

function compare(
  state: AccountState,
  { scope, delegation_id }: ReachedLimit,
): { readonly spent: Spent; readonly limits: BudgetLimits } {
  if (scope !== 'delegation') return { spent: spentOf(state, scope), limits: state.limits[scope] };
  const child = state.children.find((one) => one.child_id === delegation_id);
  if (child === undefined) {
    return { spent: { ...noSpending, worked_ms: 0 }, limits: state.limits.delegation };
  }
  return {
    spent: { ...chargeOf(child), worked_ms: child.worked_ms },
    limits: ownLimits(state, child),
  };
}

/** Lists the limited measures against their limits. Empty when nothing is limited. */
export function describeAgainst(spent: Spent, limits: BudgetLimits): string {
  return units
    .flatMap(({ measure, unit, format }) => {
      const limit = limits[measure];
      return limit === null ? [] : [`${format(spent[measure])} of ${format(limit)} ${unit}`];
    })
    .join(', ');
}

/** Returns text such as `2 US$, 20 calls`. */
function describeLimits(limits: BudgetLimits): string {
  return units
    .flatMap(({ measure, unit, format }) => {
      const limit = limits[measure];
      return limit === null ? [] : [`${format(limit)} ${unit}`];
    })
    .join(', ');
}

/** The measures in display order. */
const units: readonly {
  readonly measure: keyof BudgetLimits;
  readonly unit: string;
  readonly format: (amount: number) => string;
}[] = [
  { measure: 'cost_micro_usd', unit: 'US$', format: formatUsd },
  { measure: 'tokens', unit: 'tokens', format: String },
  { measure: 'calls', unit: 'calls', format: String },
  { measure: 'worked_ms', unit: 'minutes', format: formatMinutes },
];

function formatUsd(microUsd: number): string {
  return String(Math.round(microUsd / 100) / 10_000);
}

function formatMinutes(ms: number): string {
  return String(Math.round(ms / 6_000) / 10);
}
