import type { TenantBudget } from '../../../contracts/budget.ts';
import { reserveDay, setDayLimit, settleDay, viewDay } from '../../../core/budget/tenant-day.ts';

const noon = Date.parse('2026-11-25T12:00:00Z');
const minute = 60_000;
const hour = 60 * minute;
const dollar = 1_000_000;

function call(name: string, dollars: number, attempt = 1) {
  return { call: name, attempt, worst_micro_usd: dollars * dollar };
}

/** Reserves what must fit. */
function reserve(budget: TenantBudget, one: ReturnType<typeof call>, now = noon): TenantBudget {
  const reply = reserveDay('acme', budget, one, now);
  if (reply.type === 'refused') throw new Error(reply.reason);
  return reply.budget;
}

const empty = setDayLimit(null, 10 * dollar, noon);

/** Returns spent and reserved dollars of the day. */
function uses(budget: TenantBudget, now = noon): readonly number[] {
  const { spent_micro_usd, reserved_micro_usd } = viewDay('acme', budget, now);
  return [spent_micro_usd / dollar, reserved_micro_usd / dollar];
}

it('DU1: reservations fit up to the limit, and nothing goes past it', () => {
  const half = settleDay(reserve(empty, call('a', 6)), call('a', 6), 4 * dollar);
  const full = reserve(half, call('b', 6));
  expect(uses(full)).toEqual([4, 6]);
  expect(reserveDay('acme', full, call('c', 0.000_001), noon)).toMatchObject({
    type: 'refused',
    isUsedUp: false,
  });
  const spent = settleDay(full, call('b', 6), 6 * dollar);
  expect(reserveDay('acme', spent, call('c', 0.000_001), noon)).toMatchObject({ isUsedUp: true });
  expect(uses(reserve(setDayLimit(spent, 11 * dollar, noon), call('c', 1)))).toEqual([10, 1]);
  // A limit may fall below what is spent.
  const lowered = setDayLimit(spent, dollar, noon);
  expect(reserveDay('acme', lowered, call('c', 0.5), noon)).toMatchObject({ isUsedUp: true });
});

it('DU2: an attempt that never reports is charged all of its reservation', () => {
  const killed = reserve(empty, call('a', 3));
  expect(uses(reserve(killed, call('a', 2, 2)))).toEqual([3, 2]);
  expect(uses(settleDay(killed, call('a', 3), null))).toEqual([3, 0]);
  // Others charge it when it can't be alive any more.
  expect(uses(reserve(killed, call('b', 1), noon + 25 * minute))).toEqual([0, 4]);
  expect(uses(reserve(killed, call('b', 1), noon + 26 * minute))).toEqual([3, 1]);
});

it('DU3: a call counts for the day on which it was reserved, and days only go forward', () => {
  const late = reserve(empty, call('a', 9), noon);
  const midnight = noon + 12 * hour;
  expect(uses(late, midnight - 1)).toEqual([0, 9]);
  expect(uses(late, midnight)).toEqual([0, 0]);
  const next = reserve(late, call('b', 9), midnight);
  expect(next.day).toBe(empty.day + 1);
  expect(uses(settleDay(next, call('a', 9), 5 * dollar), midnight)).toEqual([0, 9]);
  // The clock of another worker is behind.
  expect(reserveDay('acme', next, call('c', 2), midnight - minute)).toMatchObject({
    type: 'refused',
  });
  expect(uses(next, midnight - minute)).toEqual([0, 9]);
});

it('DU3: a day that a wrong clock has opened is named, and a new limit makes it today', () => {
  const ahead = noon + 365 * 24 * hour;
  const wrong = settleDay(reserve(empty, call('a', 4), ahead), call('a', 4), 4 * dollar);
  expect(uses(reserve(wrong, call('b', 6)))).toEqual([4, 6]);
  expect(reserveDay('acme', wrong, call('b', 7), noon)).toMatchObject({
    type: 'refused',
    reason: expect.stringMatching(
      /is that of 365 days ahead, because of a clock that was wrong: .*--usd-per-day/,
    ),
  });
  // A limit that is set over midnight begins no day.
  expect(setDayLimit(wrong, 50 * dollar, ahead - 24 * hour).day).toBe(wrong.day);
  const right = setDayLimit(reserve(wrong, call('b', 3), ahead), 50 * dollar, noon);
  expect([right.day, ...uses(right)]).toEqual([empty.day, 4, 3]);
  // What never reports is charged as ever.
  expect(uses(reserve(right, call('c', 1), noon + 26 * minute))).toEqual([7, 1]);
  expect(uses(right, noon + 24 * hour)).toEqual([0, 0]);
});

it('DU1: clocks that are wrong in turn spend no more than the limit', () => {
  const clocks = [noon, noon - 48 * hour, noon, noon + 400 * 24 * hour];
  let budget = empty;
  let made = 0;
  for (let n = 0; n < 60; n += 1) {
    const now = clocks[n % (n < 30 ? 2 : 4)] ?? noon;
    const reply = reserveDay('acme', budget, call(`c${n}`, 1), now);
    if (reply.type === 'refused') continue;
    made += 1;
    budget = settleDay(reply.budget, call(`c${n}`, 1), dollar);
  }
  // Once more for the day that the clock ahead has opened.
  expect(made).toBe(20);
});

it('DU4: settling again, or after the next attempt has begun, changes nothing', () => {
  const settled = settleDay(reserve(empty, call('a', 3)), call('a', 3), dollar);
  expect(settleDay(settled, call('a', 3), dollar)).toBe(settled);
  const second = reserve(reserve(empty, call('a', 3)), call('a', 3, 2));
  expect(settleDay(second, call('a', 3), 1)).toBe(second);
  expect(uses(settleDay(second, call('a', 3, 2), dollar))).toEqual([4, 0]);
});

it('DU7: a request that reserves twice is charged once, and another one of its attempt is another one', () => {
  const once = reserve(empty, call('a', 3));
  expect(uses(reserve(reserve(once, call('b', 1)), call('a', 3)))).toEqual([0, 4]);
  expect(uses(reserve(once, call('a', 3), noon + 1))).toEqual([3, 3]);
});

it('DU5: a refusal names limit, use, the end of the day and the command', () => {
  const used = reserve(
    settleDay(reserve(empty, call('a', 8)), call('a', 8), 8 * dollar),
    call('b', 1),
  );
  expect(reserveDay('acme', used, call('c', 3), noon)).toEqual({
    type: 'refused',
    isUsedUp: true,
    reason:
      "The day's budget of the tenant acme is used up: $8.00 of $10.00 are spent, $1.00 are reserved by calls in progress, " +
      'this call may cost up to $3.00. The call was not made, and nothing is lost: it is made by itself when the day ends, ' +
      'at 00:00 UTC, or as soon as the limit is raised. Try: npm run planwave -- budget set acme --usd-per-day 20',
    resume_at: noon + minute / 2,
  });
  expect(reserveDay('acme', used, call('c', 2), noon)).toMatchObject({
    isUsedUp: false,
    reason: expect.stringContaining('as soon as a call in progress has cost less than it reserved'),
  });
});

it('DU5: a call that costs more than a whole day may is not promised for the next one', () => {
  const small = setDayLimit(null, 0.5 * dollar, noon);
  expect(reserveDay('acme', small, call('a', 0.83), noon)).toMatchObject({
    type: 'refused',
    isUsedUp: true,
    reason:
      'This call may cost up to $0.83, more than the tenant acme may spend in a whole day ($0.50). It was not made, and ' +
      'nothing is lost: it is made by itself as soon as the limit is raised. ' +
      'Try: npm run planwave -- budget set acme --usd-per-day 2',
  });
  expect(reserveDay('acme', small, call('a', 0.5), noon)).toMatchObject({ type: 'reserved' });
});

describe('a call that is refused again and again', () => {
  const used = settleDay(reserve(empty, call('a', 10)), call('a', 10), 10 * dollar);

  /** Minutes after noon at which it is tried again, when each refusal is waited for. */
  function triesUntil(end: number, begin = noon): readonly number[] {
    const tries: number[] = [];
    for (let now = begin, refusals = 0; now < end; refusals += 1) {
      const reply = reserveDay('acme', used, { ...call('b', 1), refusals }, now);
      if (reply.type !== 'refused') throw new Error('It fits.');
      now = reply.resume_at;
      tries.push((now - noon) / minute);
    }
    return tries;
  }

  it('DU6: is tried again within a minute, then after twice as long each time, up to an hour', () => {
    expect(triesUntil(noon + 4 * hour)).toEqual([
      0.5, 1.5, 3.5, 7.5, 15.5, 31.5, 63.5, 123.5, 183.5, 243.5,
    ]);
    // Rounded up to half minutes, so that calls refused together wait together.
    expect(triesUntil(noon + 1, noon - 1)).toEqual([0.5]);
    expect(triesUntil(noon + 2, noon + 1)).toEqual([1]);
  });

  it('DU6: is tried no later than at the end of the day, and at most 30 times a day', () => {
    expect(triesUntil(noon + 12 * hour).at(-1)).toBe(12 * 60);
    const midnight = empty.day * 24 * hour;
    expect(triesUntil(midnight + 24 * hour, midnight).length).toBeLessThanOrEqual(30);
  });
});
