import type { Activities } from '../../contracts/activity-types.ts';
import { guardActivity } from '../attempt/failures.ts';
import { withHeartbeat } from '../attempt/heartbeat.ts';
import { applyMiddleware } from './apply-middleware.ts';
import type { MiddlewareDeps } from './apply-middleware.ts';

/** The activity that applies a team's middlewares and guardrails, one a call, in the order that the workflow gives. */
export function createMiddlewareActivities(
  deps: MiddlewareDeps,
): Pick<Activities, 'applyMiddleware'> {
  return {
    applyMiddleware: (input) =>
      guardActivity(() => withHeartbeat(() => applyMiddleware(deps, input))),
  };
}
