import { ActivityCancellationType, proxyActivities } from '@temporalio/workflow';
import type { Activities } from '../../contracts/activity-types.ts';

/**
 * Model calls. A worker killed in a call is noticed when its heartbeats stop, so the heartbeat timeout bounds what a
 * crash costs in time. A cancelled call is awaited: its result carries the usage until then. The schedule-to-close time
 * is long because workers may be away for days; the attempts bound the cost instead.
 */
export const { modelTurn } = proxyActivities<Activities>({
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
 * Heartbeat timeout of short activities: after a worker dies, they are repeated once four heartbeats are missing. A
 * model call gets twice that, because an early repetition buys it twice.
 */
const shortHeartbeatTimeout = '4 seconds';

export const { runTool } = proxyActivities<Activities>({
  // The longest command (`commandLimits.secondsMax`) and what comes around it.
  startToCloseTimeout: '12 minutes',
  scheduleToCloseTimeout: '30 days',
  heartbeatTimeout: shortHeartbeatTimeout,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '200 milliseconds', maximumInterval: '1 minute', maximumAttempts: 20 },
});

/** Commands of evidence checks: as many as a check may run, each within its own time. */
const checks = {
  startToCloseTimeout: '1 hour',
  scheduleToCloseTimeout: '30 days',
  heartbeatTimeout: shortHeartbeatTimeout,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '200 milliseconds', maximumInterval: '1 minute', maximumAttempts: 20 },
} as const;
export const { gatherEvidence } = proxyActivities<Activities>(checks);

/**
 * The answer is paid for: the attempts wait most of a day for the store before the cell parks, and still end where a command
 * ends each worker that runs it.
 */
export const { gradeCell } = proxyActivities<Activities>({
  ...checks,
  retry: { ...checks.retry, maximumAttempts: 1_000 },
});

/** Called while the run stops: an unresponsive store must not delay its end. */
export const { recallSpent } = proxyActivities<Activities>({
  startToCloseTimeout: '10 seconds',
  scheduleToCloseTimeout: '1 minute',
  retry: { initialInterval: '1 second', maximumAttempts: 10 },
});

/** Tidying that a run does not depend on: what fails for long is told, and the run goes on. */
export const { archiveSessions } = proxyActivities<Activities>({
  startToCloseTimeout: '2 minutes',
  scheduleToCloseTimeout: '5 minutes',
  heartbeatTimeout: shortHeartbeatTimeout,
  retry: { initialInterval: '1 second', maximumAttempts: 10 },
});

/**
 * No run waits for it. What a person has to know is told for a day; an attempt is bounded, because a command may hang and a
 * server may never answer.
 */
export const { sendNotification } = proxyActivities<Activities>({
  startToCloseTimeout: '30 seconds',
  scheduleToCloseTimeout: '1 day',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 minutes' },
});

/** Reads and writes of the store: idempotent, so they are repeated until the disk works again. */
export const {
  admitPlan,
  assembleDesign,
  changeDesign,
  checkDesign,
  describeDesign,
  describeFailures,
  findResearch,
  applyRunChanges,
  findMergeConflicts,
  findWork,
  judgeAnswers,
  keepCell,
  keepResearch,
  keepWork,
  openEvaluation,
  openRun,
  openTeam,
  orderDecision,
  orderJudgement,
  planNextWave,
  recallSession,
  recallStages,
  planTasks,
  proposeChanges,
  ratePlanChange,
  readDecision,
  recallRunSpent,
  recordPhase,
  recordTeam,
  recordVerification,
  reviewDecision,
  rewriteTask,
  storeText,
  updateRecord,
} = proxyActivities<Activities>({
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
 * A person waits at the terminal. The attempts, some seconds, are for workers that have another store than the run: if no other
 * worker comes, the person reads why.
 */
export const { openConsultation } = proxyActivities<Activities>({
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: shortHeartbeatTimeout,
  retry: { initialInterval: '200 milliseconds', maximumAttempts: 8 },
});

/**
 * A user's function that hangs must not hold up a team for long, nor stop one worker after the other for ever. The
 * activity limits the calls of a function that throws (`middlewareAttemptsMax`); the other attempts are for an
 * unavailable store.
 */
export const { applyMiddleware } = proxyActivities<Activities>({
  startToCloseTimeout: '1 minute',
  scheduleToCloseTimeout: '30 days',
  heartbeatTimeout: shortHeartbeatTimeout,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '1 second', maximumInterval: '1 minute', maximumAttempts: 20 },
});

/**
 * A team goes on without its thread: an unavailable one delays it by two attempts, at most 15 seconds. The store itself
 * gives up before the attempt does, and reports the reason. The activity makes the second failure final; the other attempts
 * are for workers that have another store than the run.
 */
export const { loadThread, saveThread } = proxyActivities<Activities>({
  startToCloseTimeout: '7 seconds',
  // Longer than its attempts take, so that a run keeps its thread while its workers are away for some time.
  scheduleToCloseTimeout: '1 day',
  cancellationType: ActivityCancellationType.TRY_CANCEL,
  retry: { initialInterval: '500 milliseconds', maximumAttempts: 20 },
});
