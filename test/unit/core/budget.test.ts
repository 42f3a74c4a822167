import { assert, nat, property, record } from 'fast-check';
import type { BudgetInput } from '../../../contracts/budget.ts';
import type { PlannedDelegation } from '../../../contracts/messages.ts';
import {
  allowanceOf,
  emptyNode,
  expectMore,
  release,
  spend,
  takeGrant,
} from '../../../core/budget/budget-node.ts';
import { estimateFanOut } from '../../../core/budget/estimate-fan-out.ts';
import {
  computeMissed,
  fits,
  maxSpending,
  noLimits,
  noSpending,
  spendingOf,
} from '../../../core/budget/spending.ts';
import {
  carryLostWave,
  chargeBefore,
  openBudget,
  reliesOnPrices,
  reserveForWave,
  resolveBudget,
} from '../../../core/budget/resolve-budget.ts';
import { checkBudgetGrant, checkBudgetRequest } from '../../../core/run/read-messages.ts';
import { describeExpected, formatUsage } from '../../../core/text/format.ts';
import { addUsage, lostUsage, noUsage } from '../../../core/usage/add-usage.ts';

const reservation = { calls: 2, tokens: 100, cost_micro_usd: null, until: 5_000 };
const paid = { calls: 1, tokens: 60, cost_micro_usd: 7 };

describe('a budget without children', () => {
  it('BN1: a call is allowed what is left of the reservation', () => {
    const node = spend(takeGrant(emptyNode, reservation), paid, 30);
    expect(allowanceOf(node, 0)).toEqual({ calls: 1, tokens: 40, cost_micro_usd: null });
    expect(node).toMatchObject({ spent: paid, worked_ms: 30 });
  });

  it('BN2: nothing is allowed without a reservation, without a call in it, or after its time', () => {
    expect(allowanceOf(emptyNode, 0)).toBeNull();
    const full = takeGrant(emptyNode, reservation);
    expect(allowanceOf(full, 4_999)).not.toBeNull();
    expect(allowanceOf(full, 5_000)).toBeNull();
    expect(allowanceOf(release(full), 0)).toBeNull();
    expect(allowanceOf(spend(full, { ...paid, calls: 2 }, 0), 0)).toBeNull();
  });

  it('BN3: what a refused call needed is asked for from then on', () => {
    const node = expectMore(takeGrant(emptyNode, reservation), { ...noSpending, tokens: 101 });
    expect(allowanceOf(node, 0)).toBeNull();
    expect(node.needs).toEqual({ calls: 1, tokens: 101, cost_micro_usd: 0 });
  });

  it('fits a call whose worst case fits, to the last token', () => {
    const allowance = { calls: 1, tokens: 60, cost_micro_usd: 7 };
    expect(fits(paid, allowance)).toBe(true);
    expect(fits(paid, { ...allowance, tokens: 59 })).toBe(false);
    expect(fits(paid, { calls: null, tokens: null, cost_micro_usd: null })).toBe(true);
  });
});

function relies(input: BudgetInput): boolean {
  const budget = resolveBudget(input);
  return budget !== null && reliesOnPrices(budget);
}

describe('budget', () => {
  it('RB1: what was not typed has no limit, and a budget without limits is none', () => {
    expect(resolveBudget(undefined)).toBeNull();
    expect(resolveBudget({ wave: {} })).toBeNull();
    expect(resolveBudget({ usd: 0.25, delegation: { minutes: 1.5 } })).toEqual({
      run: { ...noLimits, cost_micro_usd: 250_000 },
      wave: noLimits,
      delegation: { ...noLimits, worked_ms: 90_000 },
    });
  });

  it('lends a wave what the run has, and what it has spent', () => {
    const budget = openBudget(resolveBudget({ calls: 3 }));
    expect(reserveForWave(budget, { ...noUsage, calls: 2 })).toMatchObject({
      limits: { run: { calls: 3 } },
      before: { calls: 2 },
      before_worked_ms: 0,
    });
    expect(reserveForWave(null, noUsage)).toBeNull();
  });

  it('relies on prices where money is limited and tokens are not', () => {
    expect(relies({ usd: 1 })).toBe(true);
    expect(relies({ usd: 1, tokens: 5 })).toBe(false);
    expect(relies({ usd: 1, tokens: 5, wave: { usd: 1 } })).toBe(true);
    expect(relies({ calls: 5 })).toBe(false);
  });

  it('RB2: a wave that told nothing of its end has used at most the time that has passed', () => {
    const budget = openBudget(resolveBudget({ calls: 10, minutes: 1, wave: { calls: 4 } }));
    const account = reserveForWave(budget, { ...noUsage, calls: 3 });
    expect(carryLostWave(account, 90_000)).toEqual({ ...budget, worked_ms: 60_000 });
    expect(carryLostWave(account, 7_000)?.worked_ms).toBe(7_000);
    expect(carryLostWave(null, 9)).toBeNull();
  });

  it('RB3: a wave that told nothing of its end leaves the run the top-ups of its limit', () => {
    const typed = { calls: 10, minutes: 1, wave: { calls: 4 } };
    const account = reserveForWave(openBudget(resolveBudget(typed)), noUsage);
    const carried = carryLostWave(account, 90_000, 2);
    expect(carried?.limits.run).toMatchObject({ calls: 30, tokens: null, worked_ms: 180_000 });
    expect(carried?.limits.wave.calls).toBe(4);
    expect(carried?.steps).toEqual(account?.steps);
    // There was time for it after the top-ups.
    expect(carried?.worked_ms).toBe(90_000);
    expect(carryLostWave(account, 90_000, 0)?.limits).toEqual(account?.limits);
  });

  it('finding T2: what a reset took back counts as spent before the wave', () => {
    const account = reserveForWave(openBudget(resolveBudget({ calls: 10 })), noUsage);
    const total = { ...noUsage, calls: 3, unreported_calls: 1, output_tokens: 7 };
    const missed = computeMissed(total, { ...noUsage, calls: 1, output_tokens: 9 });
    expect(missed).toEqual({ ...noUsage, calls: 2, unreported_calls: 1 });
    expect(chargeBefore(account, missed)?.before.calls).toBe(3);
    expect(chargeBefore(null, missed)).toBeNull();
  });

  describe('SP3: a call that was counted at its worst case', () => {
    const own = { ...noUsage, calls: 1, input_tokens: 30, output_tokens: 10, cost_micro_usd: 4 };
    const worst = {
      ...noUsage,
      unreported_calls: 1,
      unreported_tokens: 900,
      unreported_cost_micro_usd: 90,
    };

    it('is not charged again when its worker wakes and reports', () => {
      expect(computeMissed(addUsage(own, own), addUsage(worst, own))).toEqual(noUsage);
      // Neither is one that reported, and whose reservation stayed in the ledger, beyond its worst case.
      const missed = computeMissed(worst, own);
      expect(missed).toMatchObject({ unreported_calls: 0, unreported_tokens: 860 });
      expect(spendingOf(addUsage(own, missed))).toEqual(spendingOf(worst));
    });

    it('is not charged again as work of a part that was lost with its reservation', () => {
      const reserved = { calls: 5, tokens: 5_000, cost_micro_usd: 500 };
      const known = addUsage(own, lostUsage(reserved));
      expect(computeMissed(addUsage(own, own, own), known)).toEqual(noUsage);
      const more = addUsage(...Array.from({ length: 9 }, () => own));
      expect(computeMissed(more, known)).toEqual({ ...noUsage, calls: 3 });
    });

    it('any two usages: both together are the larger one, in every measure', () => {
      const amount = nat({ max: 9 });
      const usage = record({
        calls: amount,
        input_tokens: amount,
        cache_creation_input_tokens: amount,
        cache_read_input_tokens: amount,
        output_tokens: amount,
        cost_micro_usd: amount,
        unpriced_calls: amount,
        unreported_calls: amount,
        unreported_tokens: amount,
        unreported_cost_micro_usd: amount,
      });
      assert(
        property(usage, usage, (spent, known) => {
          const charged = spendingOf(addUsage(known, computeMissed(spent, known)));
          expect(charged).toEqual(maxSpending(spendingOf(spent), spendingOf(known)));
        }),
      );
    });
  });

  it('U2: finding T2: without a limit, lost work counts as one call of unknown cost', () => {
    const usage = addUsage({ ...noUsage, calls: 2, cost_micro_usd: 5 }, lostUsage(null));
    expect(usage).toMatchObject({ calls: 2, unreported_calls: 1, unreported_tokens: 0 });
    expect(formatUsage(usage)).toContain('at least');
  });

  it('SP1, SP2: tokens are all kinds of input and the output', () => {
    const usage = {
      calls: 2,
      input_tokens: 1,
      cache_creation_input_tokens: 10,
      cache_read_input_tokens: 100,
      output_tokens: 1_000,
      cost_micro_usd: 5,
      unpriced_calls: 1,
      unreported_calls: 3,
      unreported_tokens: 20_000,
      unreported_cost_micro_usd: 40,
    };
    expect(spendingOf(usage)).toEqual({ calls: 5, tokens: 21_111, cost_micro_usd: 45 });
  });
});

const agent: Pick<PlannedDelegation, 'executor'> = { executor: { kind: 'agent' } };

function agents(count: number): Pick<PlannedDelegation, 'executor'>[] {
  return Array.from({ length: count }, () => agent);
}

describe('what a wave is expected to take', () => {
  const planner = { ...noUsage, calls: 1, input_tokens: 2_000, output_tokens: 900 };

  it('FO1: more delegations never take fewer tokens', () => {
    const all = [1, 2, 5, 20].map((count) => estimateFanOut(planner, agents(count))?.tokens ?? 0);
    expect(all.toSorted((a, b) => a - b)).toEqual(all);
  });

  it('finding R3: the estimate of a wave compares it with nothing that nobody measured', () => {
    const many = estimateFanOut(planner, agents(20));
    expect(many === null ? '' : describeExpected(many)).toMatch(
      /^Expected: about [\d.]+k tokens by 20 delegations\.$/,
    );
  });

  it('FO2: a triad takes more than an agent', () => {
    const two = estimateFanOut(planner, agents(2));
    const withTriad = estimateFanOut(planner, [
      agent,
      { executor: { kind: 'triad', type: 'dialectic' } },
    ]);
    expect(withTriad?.tokens).toBeGreaterThan(2 * (two?.tokens ?? 0));
  });

  it('FO3: a team takes more than its members would', () => {
    const four = estimateFanOut(planner, agents(4));
    const estimate = (team_id: string | null) =>
      estimateFanOut(planner, [agent, { executor: { kind: 'team', team_id } }]);
    const withTeam = estimate(null);
    expect(withTeam?.tokens).toBeGreaterThan(four?.tokens ?? 0);
    expect(estimate('desk')).toEqual(withTeam);
  });

  it('is not made when nobody planned', () => {
    expect(estimateFanOut(noUsage, agents(3))).toBeNull();
  });
});

describe('messages about leases', () => {
  const request = { request_id: 'r#1', needs: paid, spent: noSpending, worked_ms: 4 };
  const grant = { request_id: 'r#1', reservation, reason: '' };

  it('WM2: takes what a workflow sends, and nothing else', () => {
    expect(checkBudgetRequest({ ...request, extra: 1 })).toEqual(request);
    const holding = { ...request, reserved: request.needs };
    expect(checkBudgetRequest(holding)).toEqual(holding);
    expect(checkBudgetRequest({ ...request, reserved: { calls: -1 } })).toEqual(request);
    expect(checkBudgetGrant(grant)).toEqual(grant);
    expect(checkBudgetGrant({ ...grant, reservation: null })).toEqual({
      ...grant,
      reservation: null,
    });
    const strange: unknown[] = [null, 7, 'x', [], {}, { ...request, needs: { calls: -1 } }];
    for (const payload of strange) {
      expect(checkBudgetRequest(payload)).toBeNull();
      expect(checkBudgetGrant(payload)).toBeNull();
    }
    expect(
      checkBudgetGrant({ ...grant, reservation: { ...reservation, until: Number.NaN } }),
    ).toBeNull();
  });
});
