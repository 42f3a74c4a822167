import { condition } from '@temporalio/workflow';
import type { LeaseReply, Spending } from '../../contracts/budget.ts';
import type { Usage } from '../../contracts/usage.ts';
import { emptyPurse, expectMore, leftInPurse } from '../../core/budget/purse.ts';
import type { Purse } from '../../core/budget/purse.ts';
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
} from '../../core/budget/shared-purse.ts';
import type { SharedPurse } from '../../core/budget/shared-purse.ts';
import { addSpending, noSpending, spendingOf } from '../../core/budget/spending.ts';
import { nowMs } from './clock.ts';
import type { Stopwatch } from './create-work-clock.ts';
import { unlimitedFunds } from './funds.ts';
import type { Allowed, Funds } from './funds.ts';
import { inBackground } from './in-background.ts';

/** Funds of a member that shares its delegation's lease. */
export interface MemberFunds extends Funds {
  /**
   * Declares that this member makes no call until others have finished; the whole lease may be given back in that time.
   * Its next call ends this.
   */
  rest(): void;
  /** Ends the member's work: the unspent part of its reservation is free again. */
  close(): void;
  /** Ends the member after its work was lost. @returns what it is charged besides what it reported. */
  lose(): Spending | null;
}

/**
 * One purse for all members of a delegation. Together they never spend more than its lease. A call that does not fit
 * waits for those in flight; then one request asks for more, for all of them.
 */
export interface SharedFunds {
  /** Returns funds for a conversation in this workflow, which makes one call after the other. */
  forCalls(): MemberFunds;
  /** Returns funds for code that starts children: each spends from a lease, out of this delegation's share. */
  forChildren(): MemberFunds;
  /** Stops this clock while more is requested, because a person may take long to answer. */
  holdWhileAsking(clock: HeldClock): void;
}

type HeldClock = Pick<Stopwatch, 'stand' | 'go'>;

/** @param funds Funds of the whole delegation; from now on only members spend from them. */
export function shareFunds(funds: Funds): SharedFunds {
  const purse = funds.carry();
  if (purse === null) return unlimited;
  const sharing = new Sharing(funds, purse);
  return {
    forCalls: () => new Member(sharing).funds(() => funds.carry()),
    forChildren: () => new Member(sharing).funds(() => emptyPurse),
    holdWhileAsking: (clock) => sharing.holdWhileAsking(clock),
  };
}

const unlimited: SharedFunds = {
  forCalls: unlimitedMember,
  forChildren: unlimitedMember,
  holdWhileAsking: () => {},
};

function unlimitedMember(): MemberFunds {
  return { ...unlimitedFunds, rest: () => {}, close: () => {}, lose: () => null };
}

/** Shares the purse: `core/budget/shared-purse.ts` decides, this waits and asks. */
class Sharing {
  readonly #funds: Funds;
  #members = 0;
  #callsOut = 0;
  #callsEnded = 0;
  readonly #clocks: HeldClock[] = [];
  shared: SharedPurse;

  constructor(funds: Funds, purse: Purse) {
    this.#funds = funds;
    this.shared = openSharedPurse(purse);
  }

  join(): number {
    this.#members += 1;
    this.set(joinPurse(this.shared, this.#members));
    return this.#members;
  }

  set(next: SharedPurse): void {
    this.shared = next;
    this.#funds.takeBack(next.purse);
  }

  holdWhileAsking(clock: HeldClock): void {
    this.#clocks.push(clock);
    if (this.shared.asked !== null) clock.stand();
  }

  countCall(step: 'out' | 'ended'): void {
    this.#callsOut += step === 'out' ? 1 : -1;
    this.#callsEnded += step === 'out' ? 0 : 1;
  }

  async lend(member: number, needs: Spending): Promise<LeaseReply> {
    this.set(setRest(this.shared, member, false));
    for (;;) {
      // When several members wait, the first to continue may ask again.
      while (this.shared.asked !== null) await condition(() => this.shared.asked === null);
      const lent = lendTo(this.shared, member, needs, nowMs());
      if (lent !== null) {
        this.set(lent.state);
        return { lease: lent.lease, reason: '' };
      }
      const ended = this.#callsEnded;
      if (this.#callsOut > 0) await condition(() => this.#callsEnded > ended);
      else {
        const reply = await this.#ask(needs);
        if (reply.lease === null) return reply;
      }
    }
  }

  /** Requests more. The reply is used even when the requesting member is gone: the lease belongs to all. */
  async #ask(needs: Spending): Promise<LeaseReply> {
    const { state, wish } = askForMore(this.shared, needs);
    this.set(state);
    for (const clock of this.#clocks) clock.stand();
    const asked: { reply: LeaseReply | null } = { reply: null };
    inBackground(async () => {
      asked.reply = await this.#funds.lend(wish);
      this.set(takeMore(this.shared, asked.reply.lease));
      for (const clock of this.#clocks) clock.go();
    });
    await condition(() => asked.reply !== null);
    return asked.reply ?? { lease: null, reason: '' };
  }
}

class Member {
  readonly #sharing: Sharing;
  readonly #member: number;
  #needs = emptyPurse;
  #spent = noSpending;
  #workedMs = 0;
  #isOut = false;

  constructor(sharing: Sharing) {
    this.#sharing = sharing;
    this.#member = sharing.join();
  }

  funds(carry: () => Purse | null): MemberFunds {
    return {
      carry,
      allow: () => this.#allow(),
      expectMore: (needs) => {
        this.#needs = expectMore(this.#needs, needs);
      },
      spend: (usage, workedMs) => this.#spend(usage, workedMs),
      giveBack: () => this.#giveBack(),
      takeBack: (purse) => {
        if (purse !== null) this.#settle(purse.spent, purse.worked_ms, leftInPurse(purse));
      },
      lend: ({ needs, spent, worked_ms }) => {
        this.#settle(spent, worked_ms, noSpending);
        return this.#sharing.lend(this.#member, needs);
      },
      release: (spent) => {
        this.#settle(spent, this.#workedMs, noSpending);
        return this.#giveBack();
      },
      rest: () => this.#sharing.set(setRest(this.#sharing.shared, this.#member, true)),
      close: () => this.#sharing.set(leavePurse(this.#sharing.shared, this.#member)),
      lose: () => {
        const { state, charged } = loseMember(this.#sharing.shared, this.#member);
        this.#sharing.set(state);
        return charged;
      },
    };
  }

  async #allow(): Promise<Allowed> {
    while (this.#isOut) await condition(() => !this.#isOut);
    this.#isOut = true;
    try {
      const { lease, reason } = await this.#sharing.lend(this.#member, this.#needs.needs);
      this.#isOut = lease !== null;
      if (lease === null) return { type: 'denied', reason };
      this.#sharing.countCall('out');
      const { until: _until, ...allowance } = lease;
      return { type: 'allowed', allowance };
    } catch (error) {
      this.#isOut = false;
      throw error;
    }
  }

  #spend(usage: Usage, workedMs: number): void {
    this.#isOut = false;
    this.#sharing.countCall('ended');
    const spent = addSpending(this.#spent, spendingOf(usage));
    this.#settle(spent, this.#workedMs + workedMs, noSpending);
  }

  #giveBack(): Spending | undefined {
    const { state, given } = giveBackFor(this.#sharing.shared, this.#member);
    this.#sharing.set(state);
    return given ? state.purse.spent : undefined;
  }

  /** @param spent Total. @param workedMs Total. @param kept Part that is still reserved. */
  #settle(spent: Spending, workedMs: number, kept: Spending): void {
    this.#spent = spent;
    this.#workedMs = workedMs;
    const told = { spent, worked_ms: workedMs };
    this.#sharing.set(settleMember(this.#sharing.shared, this.#member, told, kept));
  }
}
