import { condition } from '@temporalio/workflow';
import type { BudgetReply, Spending } from '../../contracts/budget.ts';
import {
  emptyNode,
  joinNode,
  leaveNode,
  leftOf,
  loseChild,
  releaseFor,
  requestMore,
  reserveFor,
  setRest,
  settleChild,
  takeMore,
} from '../../core/budget/budget-node.ts';
import type { BudgetNode } from '../../core/budget/budget-node.ts';
import { addSpending, noSpending, spendingOf, newChild } from '../../core/budget/spending.ts';
import { unlimitedBudget } from './budget.ts';
import type { Allowed, Budget } from './budget.ts';
import { nowMs } from './clock.ts';
import type { BudgetChild, ChildReport } from '../../core/budget/spending.ts';
import { inBackground } from './background.ts';
import type { Stopwatch } from './work-clock.ts';

/** Budget of a member that shares its delegation's grant. */
export interface MemberBudget extends Budget {
  /**
   * Declares that this member makes no call until others have finished; the whole grant may be released in that time.
   * Its next call ends this.
   */
  rest(): void;
  /** Ends the member's work: the unspent part of its reservation is free again. */
  close(): void;
  /** Ends the member after its work was lost. @returns what it is charged besides what it reported. */
  lose(): Spending | null;
}

/**
 * One budget for all members of a delegation. Together they never spend more than its grant. A call that does not fit
 * waits for those in flight; then one request asks for more, for all of them.
 */
export interface SharedBudget {
  /** Returns the budget of a conversation in this workflow, which makes one call after the other. */
  forCalls(): MemberBudget;
  /** Returns the budget of code that starts children: each spends from a reservation out of this member's. */
  forChildren(): MemberBudget;
  /** Stops this clock while more is requested, because a person may take long to answer. */
  holdWhileAsking(clock: HeldClock): void;
}

type HeldClock = Pick<Stopwatch, 'stand' | 'go'>;

/** @param budget Budget of the whole delegation; from now on only members spend from it. */
export function shareBudget(budget: Budget): SharedBudget {
  const node = budget.carry();
  if (node === null) return unlimitedSharing;
  const sharing = new Sharing(budget, node);
  return {
    forCalls: () => new Member(sharing).budget(() => budget.carry()),
    forChildren: () => new Member(sharing).budget(() => emptyNode),
    holdWhileAsking: (clock) => sharing.holdWhileAsking(clock),
  };
}

const unlimitedMember: MemberBudget = {
  ...unlimitedBudget,
  rest: () => {},
  close: () => {},
  lose: () => null,
};

const unlimitedSharing: SharedBudget = {
  forCalls: () => unlimitedMember,
  forChildren: () => unlimitedMember,
  holdWhileAsking: () => {},
};

/** Reserves for the members of one node, and requests more from its parent. */
class Sharing {
  readonly #budget: Budget;
  #members = 0;
  #callsOut = 0;
  #callsEnded = 0;
  readonly #clocks: HeldClock[] = [];
  node: BudgetNode;

  constructor(budget: Budget, node: BudgetNode) {
    this.#budget = budget;
    this.node = { ...node, children: [], requested: null };
  }

  join(): number {
    this.#members += 1;
    this.set(joinNode(this.node, this.#members));
    return this.#members;
  }

  set(next: BudgetNode): void {
    this.node = next;
    this.#budget.takeBack({ ...next, children: [], requested: null });
  }

  holdWhileAsking(clock: HeldClock): void {
    this.#clocks.push(clock);
    if (this.node.requested !== null) clock.stand();
  }

  endCall(): void {
    this.#callsOut -= 1;
    this.#callsEnded += 1;
  }

  /** @param use A call must be ended with `endCall`; it counts at once, so that a member that continues next waits for it. */
  async reserve(member: number, needs: Spending, use: 'call' | 'child'): Promise<BudgetReply> {
    this.set(setRest(this.node, member, false));
    for (;;) {
      // When several members wait, the first to continue may ask again.
      while (this.node.requested !== null) await condition(() => this.node.requested === null);
      const reserved = reserveFor(this.node, member, needs, nowMs());
      if (reserved !== null) {
        this.set(reserved.node);
        if (use === 'call') this.#callsOut += 1;
        return { reservation: reserved.reservation, reason: '' };
      }
      const ended = this.#callsEnded;
      if (this.#callsOut > 0) await condition(() => this.#callsEnded > ended);
      else {
        const reply = await this.#requestMore(needs);
        if (reply.reservation === null) return reply;
      }
    }
  }

  /** Requests more. The reply is used even when the requesting member is gone: the grant belongs to all. */
  async #requestMore(needs: Spending): Promise<BudgetReply> {
    const { node, request } = requestMore(this.node, needs);
    this.set(node);
    for (const clock of this.#clocks) clock.stand();
    const asked: { reply: BudgetReply | null } = { reply: null };
    inBackground(async () => {
      asked.reply = await this.#budget.request(request);
      this.set(takeMore(this.node, asked.reply.reservation));
      for (const clock of this.#clocks) clock.go();
    });
    await condition(() => asked.reply !== null);
    return asked.reply ?? { reservation: null, reason: '' };
  }
}

class Member {
  readonly #sharing: Sharing;
  readonly #id: number;
  #needs = emptyNode.needs;
  #isOut = false;

  constructor(sharing: Sharing) {
    this.#sharing = sharing;
    this.#id = sharing.join();
  }

  budget(carry: () => BudgetNode | null): MemberBudget {
    const sharing = this.#sharing;
    return {
      carry,
      allow: () => this.#allow(),
      expectMore: (needs) => {
        this.#needs = needs;
      },
      spend: (usage, workedMs) => {
        this.#isOut = false;
        sharing.endCall();
        const { spent, worked_ms } = this.#child();
        const told = addSpending(spent, spendingOf(usage));
        this.#settle({ spent: told, worked_ms: worked_ms + workedMs }, noSpending);
      },
      takeBack: (node) => {
        if (node !== null) this.#settle(node, leftOf(node));
      },
      request: ({ needs, ...told }) => {
        this.#settle(told, noSpending);
        return sharing.reserve(this.#id, needs, 'child');
      },
      release: (spent) => {
        if (spent !== undefined) this.#settle({ ...this.#child(), spent }, noSpending);
        const { node, released } = releaseFor(sharing.node, this.#id);
        sharing.set(node);
        return released ? node.spent : undefined;
      },
      rest: () => sharing.set(setRest(sharing.node, this.#id, true)),
      close: () => sharing.set(leaveNode(sharing.node, this.#id)),
      lose: () => {
        const { node, charged } = loseChild(sharing.node, this.#id);
        sharing.set(node);
        return charged;
      },
    };
  }

  async #allow(): Promise<Allowed> {
    while (this.#isOut) await condition(() => !this.#isOut);
    this.#isOut = true;
    try {
      const { reservation, reason } = await this.#sharing.reserve(this.#id, this.#needs, 'call');
      this.#isOut = reservation !== null;
      if (reservation === null) return { type: 'denied', reason };
      const { until: _until, ...allowance } = reservation;
      return { type: 'allowed', allowance };
    } catch (error) {
      this.#isOut = false;
      throw error;
    }
  }

  #child(): BudgetChild {
    return this.#sharing.node.children.find(({ child }) => child === this.#id) ?? newChild;
  }

  /** @param kept Part that is still reserved. */
  #settle(told: ChildReport, kept: Spending): void {
    this.#sharing.set(settleChild(this.#sharing.node, this.#id, told, kept));
  }
}
