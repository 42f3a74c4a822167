import { Context } from '@temporalio/activity';
import { assertCurrent } from './assert-current.ts';
import { guardActivity } from './failures.ts';
import { withHeartbeat } from './heartbeat.ts';

/** Throws when somebody else may have the work. `isInDoubt`: as `assertCurrent` takes it. */
export type AssertCurrent = (isInDoubt?: boolean) => Promise<void>;

/**
 * Does the work of an activity under heartbeats.
 *
 * @param work is given what it asks before it changes anything that others change too.
 */
export function whileCurrent<T>(work: (assertCurrent: AssertCurrent) => Promise<T>): Promise<T> {
  return guardActivity(() =>
    withHeartbeat(({ hasMissed }) =>
      work((isInDoubt) => assertCurrent(Context.current(), hasMissed, isInDoubt)),
    ),
  );
}
