import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../contracts/activity-types.ts';

/**
 * Model calls. A worker killed in a call is noticed when its heartbeats stop, so the heartbeat timeout bounds what a
 * crash costs in time. A cancelled call is waited for: its result carries the usage until then.
 * The schedule-to-close time is long because workers may be away for days; the attempts bound the cost instead.
 */
export const { modelTurn } = proxyActivities<Pick<Activities, 'modelTurn'>>({
  startToCloseTimeout: '20 minutes',
  scheduleToCloseTimeout: '30 days',
  heartbeatTimeout: '8 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
  retry: {
    initialInterval: '1 second',
    backoffCoefficient: 2,
    maximumInterval: '2 minutes',
    maximumAttempts: 30,
  },
});

/**
 * A killed worker's short activities are made again as soon as four heartbeats are missing. A model call gets twice
 * that: made again too early, it is bought twice.
 */
const shortHeartbeatTimeout = '4 seconds';

export const { runTool } = proxyActivities<Pick<Activities, 'runTool'>>({
  startToCloseTimeout: '2 minutes',
  scheduleToCloseTimeout: '30 days',
  heartbeatTimeout: shortHeartbeatTimeout,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '200 milliseconds', maximumInterval: '1 minute', maximumAttempts: 20 },
});

/** Asked while the run stops: a store that does not answer must not keep it from ending. */
export const { recallSpent } = proxyActivities<Pick<Activities, 'recallSpent'>>({
  startToCloseTimeout: '10 seconds',
  scheduleToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumAttempts: 3 },
});

/** Reads and writes of the store: idempotent, so they are repeated until the disk is well again. */
export const {
  judgeAnswers,
  openRun,
  openTeam,
  planTasks,
  recordPhase,
  recordTeam,
  reviewDecision,
  rewriteTask,
  storeText,
  updateRecord,
} = proxyActivities<
  Pick<
    Activities,
    | 'judgeAnswers'
    | 'openRun'
    | 'openTeam'
    | 'planTasks'
    | 'recordPhase'
    | 'recordTeam'
    | 'reviewDecision'
    | 'rewriteTask'
    | 'storeText'
    | 'updateRecord'
  >
>({
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '30 days',
  heartbeatTimeout: shortHeartbeatTimeout,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: {
    initialInterval: '200 milliseconds',
    maximumInterval: '1 minute',
    maximumAttempts: 10_000,
  },
});

/**
 * A function of somebody's own that hangs must not hold a team for long, nor stop one worker after the other for ever. How
 * often one that throws is called, the activity says (`middlewareAttemptsMax`): the other attempts are for a store that is
 * away.
 */
export const { applyMiddleware } = proxyActivities<Pick<Activities, 'applyMiddleware'>>({
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '30 days',
  heartbeatTimeout: shortHeartbeatTimeout,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '1 second', maximumInterval: '1 minute', maximumAttempts: 20 },
});

/**
 * A team goes on without its thread: one that can't be had holds it for two attempts, 15 seconds at most. The store itself
 * gives up before the attempt does, and says why.
 */
export const { loadThread, saveThread } = proxyActivities<
  Pick<Activities, 'loadThread' | 'saveThread'>
>({
  startToCloseTimeout: '7 seconds',
  // Longer than its attempts take, so that a run whose workers are away for a while keeps its thread.
  scheduleToCloseTimeout: '1 day',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '500 milliseconds', maximumAttempts: 2 },
});
