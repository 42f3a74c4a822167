import { engineLimits } from '../../../core/limits.ts';
import {
  closedBreaker,
  decideRetry,
  describeCrashes,
  findRepeatedFailure,
  hasOpened,
  mayBeginAnew,
  mayPass,
  noteEnd,
  readBreaker,
} from '../../../core/schedule/failures.ts';
import type { Breaker, FailedAttempt } from '../../../core/schedule/failures.ts';
import { failureReasons, isWorthRepeating } from '../../../core/turns/turns-state.ts';

const { breakerFailuresMax } = engineLimits;

const fail = (breaker: Breaker, began_ms: number, ended_ms: number): Breaker =>
  noteEnd(breaker, { status: 'failed', began_ms, ended_ms }, 60_000);

function failed(times: number): Breaker {
  return Array.from({ length: times }).reduce(
    (breaker: Breaker) => fail(breaker, 0, 0),
    closedBreaker,
  );
}

describe('the breaker of a member', () => {
  it('BR1: opens at the last of its failures in a row, not before', () => {
    expect(readBreaker(failed(breakerFailuresMax - 1), 0)).toBe('closed');
    expect(readBreaker(failed(breakerFailuresMax), 0)).toBe('open');
  });

  it('BR2: open, it lets nothing through; after its rest one at a time', () => {
    const open = failed(breakerFailuresMax);
    expect(mayPass(open, 59_999, 0)).toBe(false);
    expect(mayPass(open, 60_000, 0)).toBe(true);
    expect(mayPass(open, 60_000, 1)).toBe(false);
  });

  it('BR3: a trial that fails rests twice as long; a success begins anew', () => {
    const again = fail(failed(breakerFailuresMax), 60_000, 60_001);
    expect(readBreaker(again, 60_001 + 119_999)).toBe('open');
    expect(readBreaker(again, 60_001 + 120_000)).toBe('trial');
    const end = { began_ms: 60_000, ended_ms: 60_001 };
    expect(noteEnd(again, { ...end, status: 'completed' }, 60_000)).toEqual(closedBreaker);
    expect(noteEnd(again, { ...end, status: 'stopped' }, 60_000)).toEqual(again);
  });

  it('BR3: tasks that were under way when it opened make its rest no longer, during it and after it', () => {
    const open = failed(breakerFailuresMax);
    const later = fail(fail(open, 0, 59_999), 59_999, 60_000);
    expect(later).toEqual({ ...open, failures: breakerFailuresMax + 2 });
  });

  it('BR4: it has opened at the last failure of the row and at a trial that fails, not at failures while it is open', () => {
    const openedAt = (failures: number, nowMs: number): boolean => {
      const before = failed(failures);
      return hasOpened(before, fail(before, nowMs, nowMs), nowMs);
    };
    expect(openedAt(breakerFailuresMax - 2, 0)).toBe(false);
    expect(openedAt(breakerFailuresMax - 1, 0)).toBe(true);
    expect(openedAt(breakerFailuresMax, 59_999)).toBe(false);
    expect(openedAt(breakerFailuresMax, 60_000)).toBe(true);
    expect(hasOpened(failed(breakerFailuresMax), closedBreaker, 60_000)).toBe(false);
  });
});

const endOf = (delegation_id: string, reason: string) => {
  return { delegation_id, state: 'failed', reason };
};

it('CR1: work on a task of a designed plan begins anew until its third attempt broke off; no other work does', () => {
  const crash = { attempt: 1, kind: 'agent', is_designed: true } as const;
  const { crashAttemptsMax } = engineLimits;
  expect([1, 2, 3].map((attempt) => mayBeginAnew({ ...crash, attempt }))).toEqual([
    true,
    true,
    false,
  ]);
  expect(crashAttemptsMax).toBe(3);
  expect(mayBeginAnew({ ...crash, is_designed: false })).toBe(false);
  expect(mayBeginAnew({ ...crash, kind: 'triad' })).toBe(false);
  expect(describeCrashes(crashAttemptsMax, 'terminated')).toBe(
    'it crashed 3 times, the last time because: terminated',
  );
  expect(describeCrashes(1, 'terminated')).toBe('terminated');
});

it('RF1: three failures repeat each other when they say the same but for numbers and their own name', () => {
  const same = ['a1', 'b2', 'c3'].map((id, n) =>
    endOf(id, `The call of ${id} failed: HTTP 400, ${n}`),
  );
  const last = endOf('c3', 'The call of c3 failed: HTTP 400, 2');
  const other = endOf('d', 'something else');
  expect(findRepeatedFailure(last, same, 3)).toContain('3 delegations failed for the same reason');
  expect(findRepeatedFailure(last, same.slice(1), 3)).toBeNull();
  expect(findRepeatedFailure(last, [...same.slice(1), other], 3)).toBeNull();
  expect(findRepeatedFailure(other, [...same, other], 3)).toBeNull();
  const skipped = same.map((one) => ({ ...one, state: 'skipped' }));
  expect(findRepeatedFailure({ ...last, state: 'skipped' }, skipped, 3)).toBeNull();
});

describe('another attempt', () => {
  const once: FailedAttempt = {
    attempt: 1,
    why: 'invalid_output',
    kind: 'agent',
    has_acted: false,
    left_ms: 60_000,
  };

  it('RT1: no more than max_retries', () => {
    expect(decideRetry(once, 0)).toBeNull();
    expect(decideRetry({ ...once, attempt: 2 }, 1)).toBeNull();
    expect(decideRetry({ ...once, attempt: 2 }, 2)).toBe(2_000);
  });

  it('RT2, FR2: only what model or provider made of a call', () => {
    const worthwhile = failureReasons.filter((why) => decideRetry({ ...once, why }, 1) !== null);
    expect(worthwhile).toEqual(['invalid_output', 'unknown_stop', 'no_message']);
    expect(failureReasons.filter(isWorthRepeating)).toEqual(worthwhile);
    expect(decideRetry({ ...once, why: null }, 1)).toBeNull();
  });

  it('RT3: not after something was to be changed outside', () => {
    expect(decideRetry({ ...once, has_acted: true }, 1)).toBeNull();
  });

  it('RT4: each wait is twice the one before, and fits into what is left', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7].map((attempt) =>
      decideRetry({ ...once, attempt, left_ms: 600_000 }, 9),
    );
    expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect(decideRetry({ ...once, left_ms: 2_000 }, 1)).toBeNull();
  });

  it('RT5: triads and teams decide themselves', () => {
    expect(decideRetry({ ...once, kind: 'triad' }, 1)).toBeNull();
    expect(decideRetry({ ...once, kind: 'team' }, 1)).toBeNull();
  });
});
