import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure, Context } from '@temporalio/activity';
import type { FailureType } from '../../contracts/errors.ts';
import type { StoredHistory } from './histories.ts';

/**
 * Wraps activities so that the first attempt at each one is lost after its work, as if its worker had been killed before
 * it could report: everything is called and written, and the server knows of nothing. The next attempt begins at once.
 */
export function loseAttempts<T extends object>(activities: T): T {
  return wrapEach(activities, async (_name, act) => {
    const result = await act();
    if (Context.current().info.attempt > 1) return result;
    throw ApplicationFailure.create({ message: 'The attempt is lost.', nextRetryDelay: 1 });
  });
}

/** Wraps every activity. @param around does the work of a call with `act`, or something else. */
function wrapEach<T extends object>(
  activities: T,
  around: (name: string, act: () => Promise<unknown>) => Promise<unknown>,
): T {
  return new Proxy(activities, {
    get(of, name) {
      const act: unknown = Reflect.get(of, name);
      if (typeof act !== 'function') return act;
      return (...input: readonly unknown[]): Promise<unknown> =>
        around(String(name), async () => act(...input));
    },
  });
}

/** Wraps activities so that the first call of some fails for good, as if all attempts had been made. @param types of their failures. */
export function failOnce<T extends object>(
  activities: T,
  types: Readonly<Record<string, FailureType>>,
): T {
  const left = new Map(Object.entries(types));
  return wrapEach(activities, async (name, act) => {
    const type = left.get(name);
    if (!left.delete(name)) return act();
    throw ApplicationFailure.nonRetryable('The store is away.', type);
  });
}

/**
 * Wraps activities so that the first calls of some report their results at the same time. A call that has no company after
 * two seconds reports alone.
 *
 * @param counts how many calls, by name.
 */
export function reportTogether<T extends object>(
  activities: T,
  counts: Readonly<Record<string, number>>,
): T {
  const waiting = new Map<string, (() => void)[]>();
  return wrapEach(activities, async (name, act) => {
    const result = await act();
    const count = counts[name];
    if (count === undefined) return result;
    const others = waiting.get(name) ?? [];
    waiting.set(name, others);
    const together = new Promise<void>((resolve) => {
      others.push(resolve);
      if (others.length >= count) for (const one of others) one();
    });
    await Promise.race([together, sleep(2_000)]);
    return result;
  });
}

/** An activity that has ended, with the number of its last attempt. */
export interface EndedActivity {
  readonly type: string;
  readonly attempt: number;
}

/** Lists the activities of histories that were taken up by a worker. */
export function listActivities(histories: readonly StoredHistory[]): EndedActivity[] {
  return histories.flatMap(({ history }) => {
    const events = history.events ?? [];
    const types = new Map(
      events.map((event) => [
        String(event.eventId),
        event.activityTaskScheduledEventAttributes?.activityType?.name ?? '',
      ]),
    );
    return events.flatMap(({ activityTaskStartedEventAttributes: started }) => {
      if (!started) return [];
      const type = types.get(String(started.scheduledEventId)) ?? '';
      return [{ type, attempt: started.attempt ?? 0 }];
    });
  });
}
