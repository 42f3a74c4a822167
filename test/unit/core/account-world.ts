import * as fc from 'fast-check';
import type { BudgetLimits, Reservation, RunBudget, Spending } from '../../../contracts/budget.ts';
import type { AccountState, ReachedLimit } from '../../../core/budget/account-terms.ts';
import {
  addSpending,
  mapSpending,
  measures,
  noSpending,
  chargeOf,
} from '../../../core/budget/spending.ts';
import { beginAccount, plannerChild, stepAccount } from '../../../core/budget/step-account.ts';
import type {
  AccountCommand,
  AccountEvent,
  BudgetDecision,
} from '../../../core/budget/step-account.ts';

const limitsOf = (max: number): fc.Arbitrary<BudgetLimits> =>
  fc.record({
    calls: fc.option(fc.integer({ min: 2, max: 12 })),
    tokens: fc.option(fc.integer({ min: 400, max })),
    cost_micro_usd: fc.option(fc.integer({ min: 400, max })),
    worked_ms: fc.option(fc.integer({ min: 60, max: 400 })),
  });

export const budgets: fc.Arbitrary<RunBudget> = fc.record({
  run: limitsOf(5_000),
  wave: limitsOf(3_000),
  delegation: limitsOf(2_000),
});

/** Next move and its spender; the spender's state determines its effect. */
interface Move {
  readonly who: number;
  readonly what: 'ask' | 'again' | 'spend' | 'wait' | 'end' | 'lose' | 'hold' | 'answer';
  readonly amount: number;
  readonly decision: BudgetDecision;
  readonly passed: number;
}

export const moves: fc.Arbitrary<readonly Move[]> = fc.array(
  fc.record({
    who: fc.integer({ min: 0, max: 5 }),
    what: fc.constantFrom('ask', 'ask', 'again', 'spend', 'wait', 'end', 'lose', 'hold', 'answer'),
    amount: fc.integer({ min: 0, max: 900 }),
    decision: fc.constantFrom('top_up', 'top_up', 'finish', 'abandon'),
    passed: fc.integer({ min: 0, max: 60 }),
  }),
  { minLength: 20, maxLength: 80 },
);

const children = [plannerChild, 'a', 'b', 'c', 'd', 'e'];

/** Spent before the wave. */
const before: Spending = { calls: 1, tokens: 40, cost_micro_usd: 40 };

interface Spender {
  readonly id: string;
  reservation: Reservation | null;
  /** Amount that it keeps while it requests more, because others spend it instead. */
  held: Spending;
  /** Spent amount of the reservation. */
  taken: Spending;
  spent: Spending;
  isRequesting: boolean;
  isOver: boolean;
}

/** An account among honest spenders: none spends more than it was lent, as the activities make sure. */
export class AccountWorld {
  replies = 0;
  #state: AccountState;
  #now = 1_000;
  #requests = 0;
  /** Requests of attempts that were lost while they waited, and of which the next one has asked. */
  #superseded = 0;
  #isWaveFinished = false;
  readonly #spenders: readonly Spender[] = children.map((id) => ({
    id,
    reservation: null,
    held: noSpending,
    taken: noSpending,
    spent: noSpending,
    isRequesting: false,
    isOver: false,
  }));
  readonly #asked: ReachedLimit[] = [];
  readonly #breaches: string[] = [];

  constructor(budget: RunBudget) {
    const account = { limits: budget, steps: budget, before, before_worked_ms: 5 };
    this.#state = beginAccount(account, { max_parallel: 3, now: this.#now, held: false });
  }

  play(move: Move): void {
    this.#now += move.passed;
    if (move.what === 'hold') this.#on({ type: 'hold', held: !this.#state.held });
    else if (move.what === 'answer') this.#answer(move.decision);
    else this.#act(move);
    this.#checkLimits();
  }

  /** Lists the broken invariants. */
  findBreaches(): readonly string[] {
    const waiting = this.#spenders.filter(({ isRequesting }) => isRequesting).length;
    const isAnswered =
      this.replies + this.#superseded + waiting === this.#requests &&
      this.#state.queue.length === waiting;
    // Who is not served waits for somebody at work, or for the user.
    const isLost = waiting > 0 && this.#atWork() === 0 && this.#asked.length === 0;
    return [
      ...this.#breaches,
      ...(isAnswered ? [] : ['BA2: a request was lost']),
      ...(isLost ? ['BA3: nobody works and nobody was asked'] : []),
    ];
  }

  #atWork(): number {
    return this.#spenders.filter(({ reservation }) => reservation !== null).length;
  }

  #on(event: AccountEvent): void {
    const { state, commands } = stepAccount(this.#state, event, this.#now);
    this.#state = state;
    for (const command of commands) this.#take(command);
    for (const command of commands) {
      if (command.type === 'deny') this.#leave(command.child_id);
    }
  }

  #take(command: AccountCommand): void {
    if (command.type === 'ask') return this.#takeAsk(command.limit);
    const spender = this.#spenders.find(({ id }) => id === command.child_id);
    if (spender?.isRequesting !== true) {
      this.#breaches.push(`BA2: ${command.child_id} was answered without a request`);
      return;
    }
    spender.isRequesting = false;
    this.replies += 1;
    if (command.type === 'deny') return;
    spender.reservation = raise(command.reservation, spender.held);
    spender.held = noSpending;
    spender.taken = noSpending;
    const { verdict } = this.#state;
    const isExempt = spender.id === plannerChild && verdict === 'finish_wave';
    if (verdict !== 'open' && !isExempt) this.#breaches.push(`BA6: granted after ${verdict}`);
  }

  #takeAsk(limit: ReachedLimit): void {
    if (limit.scope !== 'delegation' && this.#atWork() > 0) {
      this.#breaches.push('BA3: asked while somebody works');
    }
    const isRepeated = this.#asked.some(
      (one) => one.scope === limit.scope && one.delegation_id === limit.delegation_id,
    );
    if (isRepeated) this.#breaches.push('BA3: asked twice');
    this.#asked.push(limit);
  }

  #answer(decision: BudgetDecision): void {
    const limit = this.#asked.shift();
    if (limit !== undefined) this.#on({ type: 'answered', limit, decision });
  }

  /** A denied delegation fails, and the planner gives up. */
  #leave(id: string): void {
    const spender = this.#spenders.find((one) => one.id === id);
    if (spender === undefined) return;
    spender.isOver = id !== plannerChild;
    this.#on({
      type: spender.isOver ? 'ended' : 'released',
      child_id: id,
      spent: spender.spent,
    });
  }

  #act({ who, what, amount }: Move): void {
    const spender = this.#spenders[who];
    if (spender === undefined) return;
    if (what === 'ask') return this.#request(spender, amount);
    if (what === 'again') return this.#requestAgain(spender, amount);
    if (spender.reservation === null) return;
    if (what === 'spend') return spend(spender, spender.reservation, amount);
    spender.reservation = null;
    const { id: child_id, spent } = spender;
    if (what === 'wait' || child_id === plannerChild) {
      return this.#on({ type: 'released', child_id, spent });
    }
    spender.isOver = true;
    this.#on({ type: 'ended', child_id, spent: what === 'lose' ? null : spent });
  }

  #request(spender: Spender, amount: number): void {
    if (spender.isRequesting || spender.isOver) return;
    const reserved = amount % 2 === 0 ? noSpending : restOf(spender);
    spender.held = reserved;
    spender.reservation = null;
    spender.isRequesting = true;
    this.#requests += 1;
    const needs = { calls: 1, tokens: amount, cost_micro_usd: amount };
    const { id: child_id, spent } = spender;
    this.#on({ type: 'request', child_id, needs, spent, worked_ms: 0, reserved });
  }

  #requestAgain(spender: Spender, amount: number): void {
    if (!spender.isRequesting) return;
    this.#superseded += 1;
    spender.isRequesting = false;
    this.#request(spender, amount);
  }

  #checkLimits(): void {
    // From then on the planner that decides is not held by the wave's limit.
    this.#isWaveFinished ||= this.#state.verdict === 'finish_wave';
    const charged = addSpending(...this.#state.children.map(chargeOf));
    for (const scope of ['run', 'wave'] as const) {
      if (scope === 'wave' && this.#isWaveFinished) continue;
      for (const measure of measures) {
        const limit = this.#state.limits[scope][measure] ?? Number.POSITIVE_INFINITY;
        const total = charged[measure] + (scope === 'run' ? before[measure] : 0);
        if (total > limit) this.#breaches.push(`BA1: ${total} of ${limit} ${measure} in ${scope}`);
      }
    }
  }
}

/** Returns the remaining reservation in each limited unit. */
function restOf({ reservation, taken }: Spender): Spending {
  return mapSpending((measure) => {
    const limit = reservation?.[measure] ?? null;
    return limit === null ? 0 : limit - taken[measure];
  });
}

function raise(reservation: Reservation, held: Spending): Reservation {
  const add = (measure: keyof Spending): number | null => {
    const limit = reservation[measure];
    return limit === null ? null : limit + held[measure];
  };
  return {
    ...reservation,
    calls: add('calls'),
    tokens: add('tokens'),
    cost_micro_usd: add('cost_micro_usd'),
  };
}

function spend(spender: Spender, reservation: Reservation, amount: number): void {
  const { taken } = spender;
  const paid = mapSpending((measure) => {
    const wanted = measure === 'calls' ? 1 : amount;
    const limit = reservation[measure];
    return limit === null ? wanted : Math.min(wanted, limit - taken[measure]);
  });
  spender.taken = addSpending(taken, paid);
  spender.spent = addSpending(spender.spent, paid);
}
