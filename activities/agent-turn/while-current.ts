import { Context } from '@temporalio/activity';
import { assertCurrent } from './assert-current.ts';
import { guardActivity } from './failures.ts';
import { withHeartbeat } from './heartbeat.ts';

/**
 * Does the work of an activity under heartbeats.
 *
 * @param work is given what it asks before it changes anything that others change too: it throws when somebody else may
 *   have the work.
 */
export function whileCurrent<T>(
  work: (assertCurrent: () => Promise<void>) => Promise<T>,
): Promise<T> {
  return guardActivity(() =>
    withHeartbeat(({ hasMissed }) => work(() => assertCurrent(Context.current(), hasMissed))),
  );
}
