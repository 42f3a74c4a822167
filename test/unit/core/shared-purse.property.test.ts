import * as fc from 'fast-check';
import type { Lease, LeaseWish, Spending } from '../../../contracts/budget.ts';
import { emptyPurse, takeLease } from '../../../core/budget/purse.ts';
import {
  askForMore,
  giveBackFor,
  joinPurse,
  leavePurse,
  lendTo,
  loseMember,
  openSharedPurse,
  setRest,
  settleMember,
  takeMore,
} from '../../../core/budget/shared-purse.ts';
import type { SharedPurse } from '../../../core/budget/shared-purse.ts';
import { addSpending, mapSpending, measures, noSpending } from '../../../core/budget/spending.ts';
import { property } from './builders.ts';

const amount = (one: number): Spending => ({ calls: 1, tokens: one, cost_micro_usd: one });
const leaseOf = (one: number): Lease => ({
  calls: Math.ceil(one / 100),
  tokens: one,
  cost_micro_usd: null,
  until: null,
});

/** Members 0 to 3 that spend no more than they were lent, and a wave that keeps what it lent. */
class World {
  state: SharedPurse;
  lends = 0;
  wishes = 0;
  readonly breaches: string[] = [];
  /** Amount that the wave counts as spent. */
  #charged: Spending;
  #wish: LeaseWish | null = null;
  readonly #spent = new Map<number, Spending>();
  readonly #inHand = new Map<number, Spending>();

  constructor(first: number) {
    this.state = openSharedPurse(takeLease(emptyPurse, leaseOf(first)));
    this.#charged = limited(leaseOf(first));
  }

  play({ who, what, one }: Move): void {
    const isIn = this.state.members.some(({ member }) => member === who);
    if (what === 'reply') this.#reply(one);
    else if (!isIn) this.#join(who);
    else this.#act(who, what, one);
    this.#check();
  }

  #join(who: number): void {
    this.state = joinPurse(this.state, who);
    this.#spent.set(who, noSpending);
    this.#inHand.set(who, noSpending);
  }

  #act(who: number, what: Move['what'], one: number): void {
    switch (what) {
      case 'lend':
        return this.#lend(who, one);
      case 'spend':
        return this.#spend(who, one);
      case 'give back':
        return this.#giveBack(who);
      case 'rest':
        this.state = setRest(this.state, who, true);
        return;
      case 'leave':
        this.#settle(who, noSpending);
        this.state = leavePurse(this.state, who);
        return;
      case 'reply':
    }
  }

  #lend(who: number, one: number): void {
    this.#settle(who, noSpending);
    this.state = setRest(this.state, who, false);
    const lent = lendTo(this.state, who, amount(one), 0);
    if (lent !== null) {
      if (lent.lease.tokens !== null && lent.lease.tokens < one)
        this.breaches.push('JP2: too little');
      this.lends += 1;
      this.state = lent.state;
      this.#inHand.set(who, limited(lent.lease));
    } else if (this.state.asked === null) {
      const { state, wish } = askForMore(this.state, amount(one));
      this.wishes += 1;
      this.state = state;
      this.#wish = wish;
      this.#charged = addSpending(wish.spent, wish.held ?? noSpending);
    } else if (lendTo(this.state, who, noSpending, 0) !== null) {
      this.breaches.push('JP3: lent while more was asked for');
    }
  }

  /** A part of what it has in hand, and it may tell at once or later. */
  #spend(who: number, one: number): void {
    const inHand = this.#inHand.get(who) ?? noSpending;
    const taken = mapSpending((measure) =>
      Math.min(inHand[measure], measure === 'calls' ? 1 : one),
    );
    const left = mapSpending((measure) => inHand[measure] - taken[measure]);
    this.#spent.set(who, addSpending(this.#spent.get(who) ?? noSpending, taken));
    this.#inHand.set(who, left);
    if (one % 2 === 0) this.#settle(who, left);
  }

  #settle(who: number, kept: Spending): void {
    const spent = this.#spent.get(who) ?? noSpending;
    this.state = settleMember(this.state, who, { spent, worked_ms: 0 }, kept);
    this.#inHand.set(who, kept);
  }

  #giveBack(who: number): void {
    this.#settle(who, noSpending);
    const others = this.state.members.filter((one) => one.member !== who && !one.rests);
    const { state, given } = giveBackFor(this.state, who);
    this.state = state;
    if (!given) return;
    if (others.length > 0) this.breaches.push('JP5: given back while others work');
    this.#charged = state.purse.spent;
  }

  #reply(one: number): void {
    if (this.#wish === null) return;
    const lease = one % 5 === 0 ? null : leaseOf(this.#wish.needs.tokens + one);
    this.#wish = null;
    if (lease !== null) this.#charged = addSpending(this.#charged, limited(lease));
    this.state = takeMore(this.state, lease);
  }

  #check(): void {
    const inHand = addSpending(...this.#inHand.values());
    const gone = addSpending(inHand, ...this.#spent.values());
    for (const measure of measures) {
      if (measure !== 'cost_micro_usd' && gone[measure] > this.#charged[measure]) {
        this.breaches.push(`JP1: ${gone[measure]} of ${this.#charged[measure]} ${measure}`);
      }
    }
  }
}

function limited(lease: Lease): Spending {
  return mapSpending((measure) => lease[measure] ?? 0);
}

interface Move {
  readonly who: number;
  readonly what: 'lend' | 'spend' | 'give back' | 'rest' | 'leave' | 'reply';
  readonly one: number;
}

const moves: fc.Arbitrary<readonly Move[]> = fc.array(
  fc.record({
    who: fc.nat(3),
    what: fc.constantFrom('lend', 'lend', 'spend', 'spend', 'give back', 'rest', 'leave', 'reply'),
    one: fc.nat(900),
  }),
  { minLength: 20, maxLength: 80 },
);

describe('a purse that members share', () => {
  it('JP1, JP2, JP3 and JP5: whoever spends in whatever order, never more than was leased', () => {
    let lends = 0;
    let wishes = 0;
    fc.assert(
      fc.property(fc.nat(3_000), moves, (first, script) => {
        const world = new World(first);
        for (const move of script) world.play(move);
        lends += world.lends;
        wishes += world.wishes;
        expect(world.breaches).toEqual([]);
      }),
      { ...property, numRuns: 500 },
    );
    expect(lends).toBeGreaterThan(1_000);
    expect(wishes).toBeGreaterThan(300);
  });

  const two = [1, 2].reduce(joinPurse, openSharedPurse(takeLease(emptyPurse, leaseOf(1_000))));

  it('JP2: a call gets a share while much is left, and what it needs when little is', () => {
    expect(lendTo(two, 1, amount(10), 0)?.lease.tokens).toBe(250);
    expect(lendTo(two, 1, amount(900), 0)?.lease.tokens).toBe(900);
    expect(lendTo(two, 1, amount(1_001), 0)).toBeNull();
    expect(lendTo(setRest(two, 2, true), 1, amount(10), 0)?.lease.tokens).toBe(500);
  });

  it('JP4: what was not spent is free again', () => {
    const lent = lendTo(two, 1, amount(900), 0);
    if (lent === null) throw new Error('nothing was lent');
    expect(lendTo(lent.state, 2, amount(500), 0)).toBeNull();
    const told = { spent: amount(400), worked_ms: 5 };
    const settled = settleMember(lent.state, 1, told, noSpending);
    expect(settled.purse).toMatchObject({ spent: { tokens: 400 }, worked_ms: 5 });
    expect(lendTo(settled, 2, amount(500), 0)).not.toBeNull();
    expect(lendTo(leavePurse(lent.state, 1), 2, amount(500), 0)).not.toBeNull();
  });

  it('JP3: above, what is lent is neither spent nor free', () => {
    const lent = lendTo(two, 1, amount(900), 0);
    if (lent === null) throw new Error('nothing was lent');
    const { state, wish } = askForMore(lent.state, amount(500));
    expect(wish).toMatchObject({ spent: { tokens: 0 }, held: { tokens: 900 } });
    // 900 are still out: of 500 more, and of what comes back, others may be lent.
    const more = takeMore(state, leaseOf(500));
    expect(lendTo(more, 2, amount(501), 0)).toBeNull();
    expect(lendTo(leavePurse(more, 1), 2, amount(1_400), 0)).not.toBeNull();
    const none = takeMore(state, null);
    expect(lendTo(none, 2, amount(1), 0)).toBeNull();
    expect(lendTo(leavePurse(none, 1), 2, amount(900), 0)).not.toBeNull();
  });

  it('JP6: who is lost has spent what it was lent, and all that it told of', () => {
    const lent = lendTo(two, 1, amount(300), 0);
    if (lent === null) throw new Error('nothing was lent');
    const told = { spent: amount(100), worked_ms: 7 };
    const { state: lost, charged } = loseMember(settleMember(lent.state, 1, told, amount(200)), 1);
    expect(charged).toEqual(amount(200));
    expect(lost.purse).toMatchObject({ spent: { tokens: 300 }, worked_ms: 7 });
    expect(lost.members.map(({ member }) => member)).toEqual([2]);
    expect(lendTo(lost, 2, amount(701), 0)).toBeNull();
    expect(lendTo(lost, 2, amount(700), 0)).not.toBeNull();
    expect(loseMember(lost, 1).state).toBe(lost);
  });

  it('JP2: what has no limit is lent without one, and takes nothing of it', () => {
    const lent = lendTo(two, 1, amount(10), 0);
    expect(lent?.lease.cost_micro_usd).toBeNull();
    expect(lent?.state.members[0]?.lent.cost_micro_usd).toBe(0);
  });

  it('JP2: nothing is lent from the moment on at which the lease ends', () => {
    const lease = { ...leaseOf(1_000), until: 50 };
    const state = joinPurse(openSharedPurse(takeLease(emptyPurse, lease)), 1);
    expect(lendTo(state, 1, amount(10), 49)?.lease.until).toBe(50);
    expect(lendTo(state, 1, amount(10), 50)).toBeNull();
  });

  it('JP3: a wish says nothing of what is lent when nothing is', () => {
    expect(askForMore(two, amount(10)).wish).not.toHaveProperty('held');
  });

  it('JP5: the last who is at work gives the lease back; who is beside others, only its own', () => {
    const alone = giveBackFor(setRest(two, 2, true), 1);
    expect(alone).toMatchObject({ given: true, state: { purse: { lease: null } } });
    const lent = lendTo(two, 2, amount(10), 0);
    if (lent === null) throw new Error('nothing was lent');
    expect(giveBackFor(lent.state, 1).given).toBe(false);
    expect(giveBackFor(setRest(lent.state, 2, true), 1).given).toBe(false);
    expect(giveBackFor(askForMore(setRest(two, 2, true), amount(10)).state, 1).given).toBe(false);
  });

  it('JP4: who has left can tell nothing any more', () => {
    const left = leavePurse(two, 1);
    expect(settleMember(left, 1, { spent: amount(9), worked_ms: 9 }, noSpending)).toBe(left);
  });
});
