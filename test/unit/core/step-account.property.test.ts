import * as fc from 'fast-check';
import type { BudgetLimits, RunBudget, Spending } from '../../../contracts/budget.ts';
import type { AccountState } from '../../../core/budget/account-terms.ts';
import { noLimits, noSpending } from '../../../core/budget/spending.ts';
import { beginAccount, stepAccount } from '../../../core/budget/step-account.ts';
import type { AccountCommand, AccountEvent } from '../../../core/budget/step-account.ts';
import { AccountWorld, budgets, moves } from './account-world.ts';
import { budgetQuestion } from '../../../core/budget/account-terms.ts';

it('BA1, BA2, BA3 and BA6: whoever asks in whatever order, no limit is passed and each request is answered once', () => {
  let replies = 0;
  fc.assert(
    fc.property(budgets, moves, (budget, script) => {
      const world = new AccountWorld(budget);
      for (const move of script) world.play(move);
      replies += world.replies;
      expect(world.findBreaches()).toEqual([]);
    }),
    { numRuns: 500 },
  );
  expect(replies).toBeGreaterThan(1_000);
});

const open = (limits: Partial<RunBudget>): AccountState => {
  const budget: RunBudget = { run: noLimits, wave: noLimits, delegation: noLimits, ...limits };
  return beginAccount(
    { limits: budget, steps: budget, before: noSpending, before_worked_ms: 0 },
    { max_parallel: 1, now: 0, held: false },
  );
};

type Request = Extract<AccountEvent, { type: 'request' }>;

const request = (child_id: string, needs: Partial<Spending> = {}): Request => ({
  type: 'request',
  child_id,
  needs: { ...noSpending, calls: 1, ...needs },
  spent: noSpending,
  worked_ms: 0,
});

const run = (state: AccountState, ...events: readonly AccountEvent[]) =>
  events.reduce(
    (step, event) => {
      const next = stepAccount(step.state, event, step.state.now + 10);
      return { state: next.state, commands: [...step.commands, ...next.commands] };
    },
    { state, commands: [] as readonly AccountCommand[] },
  );

const callsLimit = (calls: number): BudgetLimits => ({ ...noLimits, calls });

const asked = (state: AccountState, ...events: readonly AccountEvent[]) => {
  const step = run(state, ...events);
  const ask = step.commands.find((command) => command.type === 'ask');
  if (ask?.type !== 'ask') throw new Error('It did not ask.');
  return budgetQuestion(step.state, ask.limit).text;
};

it('finding L5: a limit below the worst case of one call says so, and not that it is spent', () => {
  const cents = { ...noLimits, cost_micro_usd: 200_000 };
  for (const scope of ['run', 'wave', 'delegation'] as const) {
    const text = asked(open({ [scope]: cents }), request('a', { cost_micro_usd: 300_000 }));
    const whose = scope === 'delegation' ? 'delegation a' : `the ${scope}`;
    expect(text).toBe(
      `The budget of ${whose} may not hold the next call, which can take up to 0.3 US$: so far 0 of 0.2 US$. What now?`,
    );
  }
  const spent = { type: 'ended', child_id: 'a', spent: { ...noSpending, calls: 1 } } as const;
  expect(asked(open({ run: callsLimit(1) }), request('a'), spent, request('b'))).toBe(
    'The budget of the run is spent: 1 of 1 calls. What now?',
  );
});

it('BA2: the newest request of a child takes the place of the one that waits, and is all that is granted', () => {
  const limit = { scope: 'run', delegation_id: null } as const;
  const raised: AccountEvent = { type: 'answered', limit, decision: 'top_up' };
  const spent = { ...noSpending, calls: 1 };
  const { commands } = run(
    open({ run: callsLimit(2) }),
    request('a', { calls: 3 }),
    request('b', { calls: 2 }),
    // The attempt of before is lost, and has used a call.
    { ...request('a', { calls: 2 }), spent },
    raised,
  );
  expect(commands).toEqual([
    { type: 'ask', limit },
    { type: 'grant', child_id: 'a', reservation: expect.objectContaining({ calls: 2 }) },
  ]);
  // One that fits now needs no answer.
  const smaller = run(
    open({ run: callsLimit(2) }),
    request('a', { calls: 3 }),
    { ...request('a'), spent },
    { ...request('a'), spent: { ...spent, calls: 2 } },
  );
  expect(smaller.commands.map(({ type }) => type)).toEqual(['ask', 'grant']);
});

it('BA4: who waits for the user or has ended gives back what it did not spend', () => {
  const { commands } = run(
    open({ run: callsLimit(1) }),
    request('a'),
    request('b'),
    { type: 'released', child_id: 'a', spent: noSpending },
    { type: 'ended', child_id: 'b', spent: noSpending },
    request('c'),
  );
  expect(commands.map(({ type }) => type)).toEqual(['grant', 'grant', 'grant']);
});

it('BA1: what a holder keeps is lent still, in every scope', () => {
  const reserved = { ...noSpending, calls: 2 };
  for (const scope of ['run', 'wave', 'delegation'] as const) {
    const opened = open({ [scope]: callsLimit(3) });
    const keeping = { ...request('a'), reserved };
    expect(run(opened, keeping).commands).toMatchObject([
      { type: 'grant', reservation: { calls: 1 } },
    ]);
    const both = run(opened, { ...request('a', { calls: 2 }), reserved }).commands;
    expect(both).toMatchObject([{ type: 'ask', limit: { scope } }]);
  }
});

it('BA5: who was lost has spent what it was lent', () => {
  const { commands } = run(
    open({ run: callsLimit(1) }),
    request('a'),
    { type: 'ended', child_id: 'a', spent: null },
    request('b'),
  );
  expect(commands.map(({ type }) => type)).toEqual(['grant', 'ask']);
});

it('BA7: an event that does not fit changes nothing', () => {
  const { state } = run(open({ run: callsLimit(3) }), request('a'), request('b'));
  const strange: AccountEvent[] = [
    { type: 'released', child_id: 'nobody', spent: noSpending },
    { type: 'ended', child_id: 'nobody', spent: null },
    { type: 'hold', held: false },
    { type: 'answered', limit: { scope: 'run', delegation_id: null }, decision: 'abandon' },
  ];
  for (const event of strange) {
    expect(stepAccount(state, event, 50)).toEqual({ state, commands: [] });
  }
  const ended = run(state, { type: 'ended', child_id: 'a', spent: noSpending });
  expect(stepAccount(ended.state, request('a'), 60).commands).toEqual([]);
});

it('BA8: only time at work counts, and a reservation ends with it', () => {
  const opened = open({ run: { ...noLimits, worked_ms: 100 } });
  const first = stepAccount(opened, request('a'), 1_000);
  expect(first.commands).toMatchObject([{ type: 'grant', reservation: { until: 1_100 } }]);
  const held = stepAccount(first.state, { type: 'hold', held: true }, 1_040);
  const on = stepAccount(held.state, { type: 'hold', held: false }, 9_000);
  const again = stepAccount(on.state, { ...request('a') }, 9_010);
  // 50 of 100 ms are used: the hour of the pause is not.
  expect(again.commands).toMatchObject([{ type: 'grant', reservation: { until: 9_060 } }]);
  const late = stepAccount(again.state, request('a'), 9_060);
  expect(late.commands).toMatchObject([{ type: 'ask', limit: { scope: 'run' } }]);
});

function reservation(left: number, tokens: number): readonly AccountCommand[] {
  return run(open({ run: { ...noLimits, tokens: left } }), request('a', { tokens })).commands;
}

it('RS2, RS3 and RS4: a reservation is a share while much is left, exact near the limit, and open without one', () => {
  expect(reservation(1_000, 10)).toMatchObject([
    { reservation: { tokens: 500, calls: null, until: null } },
  ]);
  expect(reservation(1_000, 900)).toMatchObject([{ reservation: { tokens: 900 } }]);
  expect(reservation(1_000, 1_001)).toMatchObject([{ type: 'ask' }]);
});
