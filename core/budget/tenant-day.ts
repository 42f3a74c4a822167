/**
 * Reserves and settles the money of a tenant's model calls, day by day in UTC.
 *
 * Invariants:
 *   DU1. No reservation takes spent and reserved amounts of a day together past the limit.
 *   DU2. A call reserves its worst case before its request and is charged what it used after it. One that never reports is
 *        charged its whole reservation: when its next attempt reserves, or after the longest time that an attempt may take.
 *   DU3. What a call used counts for the day on which it was reserved. A clock that is behind goes on with the newest day. Where
 *        that is more than a day ahead, a wrong clock opened it: refusals say so, and only a new limit makes it today again.
 *   DU4. Settling twice, or for an attempt that another one has followed, changes nothing.
 *   DU5. A refusal names limit, spent and reserved amounts, the end of the day, and the command that raises the limit. Of a
 *        call that no day has room for, it names only what can help.
 *   DU6. A refused call is tried again within a minute, because its run may have parked just after the limit was raised; then after
 *        twice as long each time, up to an hour. A run that stays parked for a day thus tries each call at most 30 times.
 *   DU7. A request that reserves again, because its store could not tell it whether it had, reserves once.
 */
import type { TenantBudget, TenantDayView } from '../../contracts/budget.ts';
import { commandText, formatDollars } from '../text/format.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

/** Milliseconds after which the attempt of a reservation has ended: more than `startToCloseTimeout` of a model call. */
const attemptMaxMs = 25 * minuteMs;

/** Milliseconds until a call that was refused is tried again: after its first refusal, and the most after any. */
const recheckMsFirst = minuteMs / 2;
const recheckMsMax = 60 * minuteMs;

/** An attempt at a model call. */
export interface PayingCall {
  /** Names the call: the same for all its attempts. */
  readonly call: string;
  readonly attempt: number;
  /** The most that it may cost, in millionths of a US dollar. */
  readonly worst_micro_usd: number;
  /** Refusals in a row that its run has waited for. Default 0. */
  readonly refusals?: number | undefined;
}

export type DayReply =
  | { readonly type: 'reserved'; readonly budget: TenantBudget }
  | {
      readonly type: 'refused';
      /** False when the call fits as soon as calls in progress have settled. */
      readonly isUsedUp: boolean;
      /** Text for people: what is used up, and what to do. */
      readonly reason: string;
      /** Unix epoch milliseconds at which the call should be tried again by itself. */
      readonly resume_at: number;
    };

/** Opens a budget, or changes its limit; what the day has spent stays. @param now Unix epoch milliseconds. */
export function setDayLimit(
  budget: TenantBudget | null,
  limit_micro_usd: number,
  now: number,
): TenantBudget {
  if (budget !== null) return { ...endWrongDay(budget, now), limit_micro_usd };
  return { limit_micro_usd, day: dayOf(now), spent_micro_usd: 0, reserved: {} };
}

/** Reserves the worst case of a call. @param now Unix epoch milliseconds at which its request began. */
export function reserveDay(
  tenant: string,
  known: TenantBudget,
  { call, attempt, worst_micro_usd, refusals = 0 }: PayingCall,
  now: number,
): DayReply {
  const own = known.reserved[call];
  if (own?.attempt === attempt && own.at === now && own.micro_usd === worst_micro_usd) {
    return { type: 'reserved', budget: known };
  }
  const budget = chargeLost(openDay(known, now), call, now);
  const { limit_micro_usd, spent_micro_usd, reserved } = budget;
  const reserved_micro_usd = sumReserved(budget);
  if (spent_micro_usd + reserved_micro_usd + worst_micro_usd <= limit_micro_usd) {
    const reservation = { attempt, micro_usd: worst_micro_usd, at: now };
    return {
      type: 'reserved',
      budget: { ...budget, reserved: { ...reserved, [call]: reservation } },
    };
  }
  const isUsedUp = spent_micro_usd + worst_micro_usd > limit_micro_usd;
  return {
    type: 'refused',
    isUsedUp,
    reason: describeRefusal(tenant, budget, worst_micro_usd, { isUsedUp, now }),
    resume_at: Math.min(endOf(budget.day), recheckAt(now, refusals)),
  };
}

/**
 * Replaces the reservation of an attempt by what it used.
 *
 * @param used_micro_usd Null when that is unknown: then the whole reservation is charged.
 * @returns the same budget when the attempt has no reservation any more.
 */
export function settleDay(
  budget: TenantBudget,
  { call, attempt }: Pick<PayingCall, 'call' | 'attempt'>,
  used_micro_usd: number | null,
): TenantBudget {
  const own = budget.reserved[call];
  if (own?.attempt !== attempt) return budget;
  const { [call]: _settled, ...reserved } = budget.reserved;
  const spent_micro_usd = budget.spent_micro_usd + (used_micro_usd ?? own.micro_usd);
  return { ...budget, spent_micro_usd, reserved };
}

/** Returns the budget as people see it. @param now Unix epoch milliseconds. */
export function viewDay(tenant: string, known: TenantBudget, now: number): TenantDayView {
  const budget = openDay(known, now);
  const { limit_micro_usd, day, spent_micro_usd } = budget;
  return {
    tenant,
    limit_micro_usd,
    spent_micro_usd,
    reserved_micro_usd: sumReserved(budget),
    ends_at: endOf(day) / 1_000,
  };
}

/** DU6: in whole half minutes, so that calls that are refused together go on together. */
function recheckAt(now: number, refusals: number): number {
  const waitMs = Math.min(recheckMsFirst * 2 ** refusals, recheckMsMax);
  return Math.ceil((now + waitMs) / recheckMsFirst) * recheckMsFirst;
}

/** DU3: a new day begins with nothing spent; what is still reserved belongs to the day before. */
function openDay(budget: TenantBudget, now: number): TenantBudget {
  const today = dayOf(now);
  return today <= budget.day ? budget : { ...budget, day: today, spent_micro_usd: 0, reserved: {} };
}

/** Returns true for a day that a clock must have opened which was ahead: clocks of two machines may differ over midnight. */
function isWrongDay({ day }: TenantBudget, now: number): boolean {
  return day - dayOf(now) > 1;
}

/**
 * DU3: makes a wrong day today, with what it has spent. Only a person may: if calls did it, each change between a right clock
 * and a wrong one would begin a day anew.
 */
function endWrongDay(budget: TenantBudget, now: number): TenantBudget {
  if (!isWrongDay(budget, now)) return budget;
  const reserved = Object.entries(budget.reserved).map(
    ([call, one]) => [call, { ...one, at: Math.min(one.at, now) }] as const,
  );
  return { ...budget, day: dayOf(now), reserved: Object.fromEntries(reserved) };
}

/** Charges earlier attempts at the call, and whatever is so old that it will not report, all that they have reserved. */
function chargeLost(budget: TenantBudget, call: string, now: number): TenantBudget {
  const lost = Object.entries(budget.reserved).filter(
    ([name, { at }]) => name === call || now - at > attemptMaxMs,
  );
  return lost.reduce(
    (left, [name, { attempt }]) => settleDay(left, { call: name, attempt }, null),
    budget,
  );
}

function sumReserved({ reserved }: TenantBudget): number {
  return Object.values(reserved).reduce((sum, { micro_usd }) => sum + micro_usd, 0);
}

function describeRefusal(
  tenant: string,
  budget: TenantBudget,
  worst: number,
  { isUsedUp, now }: { readonly isUsedUp: boolean; readonly now: number },
): string {
  const { limit_micro_usd: limit, spent_micro_usd: spent } = budget;
  const reserved = sumReserved(budget);
  const raised = String(Math.ceil((2 * Math.max(limit, worst)) / 1_000_000));
  const cure = `Try: ${commandText('budget', 'set', tenant, '--usd-per-day', raised)}`;
  if (worst > limit) {
    return [
      `This call may cost up to ${formatDollars(worst)}, more than the tenant ${tenant} may spend in a whole day`,
      `(${formatDollars(limit)}). It was not made, and nothing is lost: it is made by itself as soon as the limit is raised. ${cure}`,
    ].join(' ');
  }
  const uses = [
    `${formatDollars(spent)} of ${formatDollars(limit)} are spent`,
    ...(reserved === 0 ? [] : [`${formatDollars(reserved)} are reserved by calls in progress`]),
    `this call may cost up to ${formatDollars(worst)}`,
  ];
  if (isWrongDay(budget, now)) {
    return [
      `The day's budget of the tenant ${tenant} is that of ${budget.day - dayOf(now)} days ahead, because of a clock that was wrong: ${uses.join(', ')}.`,
      `The call was not made, and nothing is lost. Set the clocks of the workers right, then set the limit again: that makes the day today. ${cure}`,
    ].join(' ');
  }
  return [
    `The day's budget of the tenant ${tenant} is ${isUsedUp ? 'used up' : 'reserved'}: ${uses.join(', ')}.`,
    'The call was not made, and nothing is lost: it is made by itself when the day ends, at 00:00 UTC, or as soon as',
    isUsedUp ? 'the limit is raised.' : 'a call in progress has cost less than it reserved.',
    cure,
  ].join(' ');
}

/** Returns the day of UTC, counted from the epoch. */
function dayOf(epochMs: number): number {
  return Math.floor(epochMs / dayMs);
}

/** Returns the Unix epoch milliseconds at which a day ends. */
function endOf(day: number): number {
  return (day + 1) * dayMs;
}
