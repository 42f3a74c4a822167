import * as fc from 'fast-check';
import type { Reservation, BudgetNeeds, Spending } from '../../../contracts/budget.ts';
import {
  emptyNode,
  joinNode,
  leaveNode,
  loseChild,
  releaseFor,
  requestMore,
  reserveFor,
  setRest,
  settleChild,
  takeGrant,
  takeMore,
} from '../../../core/budget/budget-node.ts';
import type { BudgetNode } from '../../../core/budget/budget-node.ts';
import { addSpending, mapSpending, measures, noSpending } from '../../../core/budget/spending.ts';
import { property } from './builders.ts';

const amount = (one: number): Spending => ({ calls: 1, tokens: one, cost_micro_usd: one });
const reservationOf = (one: number): Reservation => ({
  calls: Math.ceil(one / 100),
  tokens: one,
  cost_micro_usd: null,
  until: null,
});

/** Members 0 to 3 that spend no more than they were lent, and a wave that keeps what it lent. */
class World {
  state: BudgetNode;
  lends = 0;
  requests = 0;
  readonly breaches: string[] = [];
  /** Amount that the wave counts as spent. */
  #charged: Spending;
  #request: BudgetNeeds | null = null;
  readonly #spent = new Map<number, Spending>();
  readonly #inHand = new Map<number, Spending>();

  constructor(first: number) {
    this.state = takeGrant(emptyNode, reservationOf(first));
    this.#charged = limited(reservationOf(first));
  }

  play({ who, what, one }: Move): void {
    const isIn = this.state.children.some(({ child }) => child === who);
    if (what === 'reply') this.#reply(one);
    else if (!isIn) this.#join(who);
    else this.#act(who, what, one);
    this.#check();
  }

  #join(who: number): void {
    this.state = joinNode(this.state, who);
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
        this.state = leaveNode(this.state, who);
        return;
      case 'reply':
    }
  }

  #lend(who: number, one: number): void {
    this.#settle(who, noSpending);
    this.state = setRest(this.state, who, false);
    const lent = reserveFor(this.state, who, amount(one), 0);
    if (lent !== null) {
      if (lent.reservation.tokens !== null && lent.reservation.tokens < one)
        this.breaches.push('RS3: too little');
      this.lends += 1;
      this.state = lent.node;
      this.#inHand.set(who, limited(lent.reservation));
    } else if (this.state.requested === null) {
      const { node, request } = requestMore(this.state, amount(one));
      this.requests += 1;
      this.state = node;
      this.#request = request;
      this.#charged = addSpending(request.spent, request.reserved ?? noSpending);
    } else if (reserveFor(this.state, who, noSpending, 0) !== null) {
      this.breaches.push('BN4: lent while more was asked for');
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
    this.state = settleChild(this.state, who, { spent, worked_ms: 0 }, kept);
    this.#inHand.set(who, kept);
  }

  #giveBack(who: number): void {
    this.#settle(who, noSpending);
    const others = this.state.children.filter((one) => one.child !== who && !one.rests);
    const { node, released } = releaseFor(this.state, who);
    this.state = node;
    if (!released) return;
    if (others.length > 0) this.breaches.push('BN6: given back while others work');
    this.#charged = node.spent;
  }

  #reply(one: number): void {
    if (this.#request === null) return;
    const reservation = one % 5 === 0 ? null : reservationOf(this.#request.needs.tokens + one);
    this.#request = null;
    if (reservation !== null) this.#charged = addSpending(this.#charged, limited(reservation));
    this.state = takeMore(this.state, reservation);
  }

  #check(): void {
    const inHand = addSpending(...this.#inHand.values());
    const gone = addSpending(inHand, ...this.#spent.values());
    for (const measure of measures) {
      if (measure !== 'cost_micro_usd' && gone[measure] > this.#charged[measure]) {
        this.breaches.push(`BN1: ${gone[measure]} of ${this.#charged[measure]} ${measure}`);
      }
    }
  }
}

function limited(reservation: Reservation): Spending {
  return mapSpending((measure) => reservation[measure] ?? 0);
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

describe('a budget that children share', () => {
  it('BN1, RS3, BN4 and BN6: whoever spends in whatever order, never more than was granted', () => {
    let lends = 0;
    let requests = 0;
    fc.assert(
      fc.property(fc.nat(3_000), moves, (first, script) => {
        const world = new World(first);
        for (const move of script) world.play(move);
        lends += world.lends;
        requests += world.requests;
        expect(world.breaches).toEqual([]);
      }),
      { ...property, numRuns: 500 },
    );
    expect(lends).toBeGreaterThan(1_000);
    expect(requests).toBeGreaterThan(300);
  });

  const two = [1, 2].reduce(joinNode, takeGrant(emptyNode, reservationOf(1_000)));

  it('RS3: a call gets a share while much is left, and what it needs when little is', () => {
    expect(reserveFor(two, 1, amount(10), 0)?.reservation.tokens).toBe(250);
    expect(reserveFor(two, 1, amount(900), 0)?.reservation.tokens).toBe(900);
    expect(reserveFor(two, 1, amount(1_001), 0)).toBeNull();
    expect(reserveFor(setRest(two, 2, true), 1, amount(10), 0)?.reservation.tokens).toBe(500);
  });

  it('BN5: what was not spent is free again', () => {
    const lent = reserveFor(two, 1, amount(900), 0);
    if (lent === null) throw new Error('nothing was lent');
    expect(reserveFor(lent.node, 2, amount(500), 0)).toBeNull();
    const told = { spent: amount(400), worked_ms: 5 };
    const settled = settleChild(lent.node, 1, told, noSpending);
    expect(settled).toMatchObject({ spent: { tokens: 400 }, worked_ms: 5 });
    expect(reserveFor(settled, 2, amount(500), 0)).not.toBeNull();
    expect(reserveFor(leaveNode(lent.node, 1), 2, amount(500), 0)).not.toBeNull();
  });

  it('BN4: above, what is lent is neither spent nor free', () => {
    const lent = reserveFor(two, 1, amount(900), 0);
    if (lent === null) throw new Error('nothing was lent');
    const { node, request } = requestMore(lent.node, amount(500));
    expect(request).toMatchObject({ spent: { tokens: 0 }, reserved: { tokens: 900 } });
    // 900 are still out: of 500 more, and of what comes back, others may be lent.
    const more = takeMore(node, reservationOf(500));
    expect(reserveFor(more, 2, amount(501), 0)).toBeNull();
    expect(reserveFor(leaveNode(more, 1), 2, amount(1_400), 0)).not.toBeNull();
    const none = takeMore(node, null);
    expect(reserveFor(none, 2, amount(1), 0)).toBeNull();
    expect(reserveFor(leaveNode(none, 1), 2, amount(900), 0)).not.toBeNull();
  });

  it('BN7, RS1: who is lost has spent what it was lent, and all that it told of', () => {
    const lent = reserveFor(two, 1, amount(300), 0);
    if (lent === null) throw new Error('nothing was lent');
    const told = { spent: amount(100), worked_ms: 7 };
    const { node: lost, charged } = loseChild(settleChild(lent.node, 1, told, amount(200)), 1);
    expect(charged).toEqual(amount(200));
    expect(lost).toMatchObject({ spent: { tokens: 300 }, worked_ms: 7 });
    expect(lost.children.map(({ child }) => child)).toEqual([2]);
    expect(reserveFor(lost, 2, amount(701), 0)).toBeNull();
    expect(reserveFor(lost, 2, amount(700), 0)).not.toBeNull();
    expect(loseChild(lost, 1).node).toBe(lost);
  });

  it('RS3: what has no limit is lent without one, and takes nothing of it', () => {
    const lent = reserveFor(two, 1, amount(10), 0);
    expect(lent?.reservation.cost_micro_usd).toBeNull();
    expect(lent?.node.children[0]?.reserved.cost_micro_usd).toBe(0);
  });

  it('RS3: nothing is lent from the moment on at which the reservation ends', () => {
    const reservation = { ...reservationOf(1_000), until: 50 };
    const state = joinNode(takeGrant(emptyNode, reservation), 1);
    expect(reserveFor(state, 1, amount(10), 49)?.reservation.until).toBe(50);
    expect(reserveFor(state, 1, amount(10), 50)).toBeNull();
  });

  it('BN4: a request says nothing of what is lent when nothing is', () => {
    expect(requestMore(two, amount(10)).request).not.toHaveProperty('reserved');
  });

  it('BN6: the last who is at work gives the reservation back; who is beside others, only its own', () => {
    const alone = releaseFor(setRest(two, 2, true), 1);
    expect(alone).toMatchObject({ released: true, node: { grant: null } });
    const lent = reserveFor(two, 2, amount(10), 0);
    if (lent === null) throw new Error('nothing was lent');
    expect(releaseFor(lent.node, 1).released).toBe(false);
    expect(releaseFor(setRest(lent.node, 2, true), 1).released).toBe(false);
    expect(releaseFor(requestMore(setRest(two, 2, true), amount(10)).node, 1).released).toBe(false);
  });

  it('BN5: who has left can tell nothing any more', () => {
    const left = leaveNode(two, 1);
    expect(settleChild(left, 1, { spent: amount(9), worked_ms: 9 }, noSpending)).toBe(left);
  });
});
