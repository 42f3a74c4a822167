import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type ScheduleHandle,
  type ScheduleSummary,
} from '@temporalio/client';
import { memoKeys, workflowTypes } from '../contracts/names.ts';
import { PlannerRunInput } from '../contracts/planner-run.ts';
import { commandText } from '../core/text/format.ts';
import { isExplained } from '../encryption/encrypting-codec.ts';
import { checkInput } from './check-input.ts';
import { PlanwaveClientError } from './client-error.ts';
import { callServer, type ClientContext } from './server-calls.ts';
import { checkRunId, describeGoal } from './start-run.ts';

/** Behaviour when the run before has not ended, by its name on the command line. */
export const overlapPolicies = {
  skip: ScheduleOverlapPolicy.SKIP,
  'buffer-one': ScheduleOverlapPolicy.BUFFER_ONE,
  'buffer-all': ScheduleOverlapPolicy.BUFFER_ALL,
  'allow-all': ScheduleOverlapPolicy.ALLOW_ALL,
  'cancel-other': ScheduleOverlapPolicy.CANCEL_OTHER,
} as const;
export type Overlap = keyof typeof overlapPolicies;

export interface NewSchedule {
  /** A slug, as the id of a run: ids of its runs are this and the time of their start. */
  readonly schedule_id: string;
  readonly input: PlannerRunInput;
  /** A cron expression, or seconds between starts. */
  readonly when: { readonly cron: string } | { readonly every_seconds: number };
  /** Time zone of the cron expression. If undefined: UTC. */
  readonly time_zone?: string | undefined;
  /** Default `skip`. */
  readonly overlap?: Overlap | undefined;
  readonly note?: string | undefined;
  /** True when nothing starts before it is resumed. */
  readonly paused?: boolean | undefined;
}

export interface ListedSchedule {
  readonly schedule_id: string;
  readonly goal: string;
  /** Text as it was typed: `cron 0 2 * * *`. */
  readonly when: string;
  readonly paused: boolean;
  readonly note: string;
  /** Unix epoch seconds; null when nothing will start. */
  readonly next_at: number | null;
  /** Null before the first. */
  readonly last_run_id: string | null;
}

/** Runs that the server starts by the clock. Every method throws PlanwaveClientError, nothing else. */
export interface Schedules {
  create(schedule: NewSchedule): Promise<void>;
  list(): Promise<readonly ListedSchedule[]>;
  /** @param note If undefined, the note stays as it is. */
  pause(scheduleId: string, note?: string): Promise<void>;
  /** @param note If undefined, the note stays as it is. */
  resume(scheduleId: string, note?: string): Promise<void>;
  /** Starts a run now, whatever runs. */
  trigger(scheduleId: string): Promise<void>;
  /** Runs that have begun go on. */
  delete(scheduleId: string): Promise<void>;
}

/** Memo fields of a schedule. */
const whenKey = 'when';
const queueKey = 'task_queue';

/** Starts that were missed for longer than this, such as while the server was off, are left out. */
const catchUp = '1 hour';

export function createSchedules(context: ClientContext): Schedules {
  const { schedules } = context;
  const at = async (id: string, call: () => Promise<void>): Promise<void> =>
    callServer(context, null, () => call().catch((error: unknown) => throwKnown(id, error)));
  return {
    create: (given) => at(given.schedule_id, () => create(context, context.redact(given))),
    list: () => callServer(context, null, () => list(context)),
    pause: (id, note) =>
      at(id, async () => {
        const schedule = schedules.getHandle(id);
        await schedule.pause(context.redact(note) ?? (await keepNote(schedule, 'paused')));
      }),
    resume: (id, note) =>
      at(id, async () => {
        const schedule = schedules.getHandle(id);
        await schedule.unpause(context.redact(note) ?? (await keepNote(schedule, 'resumed')));
      }),
    trigger: (id) => at(id, () => schedules.getHandle(id).trigger(ScheduleOverlapPolicy.ALLOW_ALL)),
    delete: (id) => at(id, () => schedules.getHandle(id).delete()),
  };
}

/** Notes of schedules that people gave none: the server takes no change without a text. */
const changeNotes = ['paused', 'resumed'] as const;

/** Returns the note of a schedule, so that a change without a note leaves it as it is. */
async function keepNote(
  schedule: ScheduleHandle,
  change: (typeof changeNotes)[number],
): Promise<string> {
  const { note = '' } = (await schedule.describe()).state;
  return ['', ...changeNotes].includes(note) ? change : note;
}

async function create(
  { schedules, taskQueue }: ClientContext,
  { schedule_id, input, when, time_zone: timezone, overlap = 'skip', note, paused }: NewSchedule,
): Promise<void> {
  checkInput(PlannerRunInput, input, { of: 'run' });
  const { summary, memo } = describeGoal(input.goal);
  await schedules.create({
    scheduleId: checkRunId(schedule_id),
    spec: {
      ...('cron' in when
        ? { cronExpressions: [when.cron] }
        : { intervals: [{ every: when.every_seconds * 1_000 }] }),
      ...(timezone !== undefined && { timezone }),
    },
    policies: { overlap: overlapPolicies[overlap], catchupWindow: catchUp },
    state: { ...(note !== undefined && { note }), paused: paused ?? false },
    memo: {
      [memoKeys.goal]: memo,
      [whenKey]: describeWhen(when, timezone),
      [queueKey]: taskQueue,
    },
    action: {
      type: 'startWorkflow',
      workflowType: workflowTypes.plannerRun,
      // The server adds the time of each start. The run itself tells its search attributes.
      workflowId: schedule_id,
      taskQueue,
      args: [input],
      staticSummary: summary,
      memo: { [memoKeys.goal]: memo },
    },
  });
}

function describeWhen(when: NewSchedule['when'], timezone: string | undefined): string {
  if ('every_seconds' in when) return `every ${when.every_seconds} s`;
  return `cron ${when.cron}${timezone === undefined ? '' : ` (${timezone})`}`;
}

async function list({ schedules, taskQueue }: ClientContext): Promise<readonly ListedSchedule[]> {
  const found: ListedSchedule[] = [];
  for await (const summary of schedules.list()) {
    const { memo = {}, action } = summary;
    const isRun = action?.workflowType === workflowTypes.plannerRun;
    // The queue of a schedule that can't be decrypted is unknown. It is shown, so that it can be found and deleted.
    const isOurs = memo[queueKey] === taskQueue || isExplained(memo[queueKey]);
    if (isRun && isOurs) found.push(toListed(summary, memo));
  }
  return found;
}

function toListed(
  { scheduleId, state, info }: ScheduleSummary,
  memo: Readonly<Record<string, unknown>>,
): ListedSchedule {
  const [next] = info.nextActionTimes;
  const text = (key: string): string => (typeof memo[key] === 'string' ? memo[key] : '');
  return {
    schedule_id: scheduleId,
    goal: text(memoKeys.goal),
    when: text(whenKey),
    paused: state.paused,
    note: state.note ?? '',
    next_at: next === undefined || state.paused ? null : Math.floor(next.getTime() / 1_000),
    last_run_id: info.recentActions.at(-1)?.action.workflow.workflowId ?? null,
  };
}

function throwKnown(id: string, error: unknown): never {
  if (error instanceof ScheduleNotFoundError) {
    const message = `There is no schedule ${JSON.stringify(id)}. Try: ${commandText('schedule', 'list')}`;
    throw new PlanwaveClientError('not_found', message, { cause: error });
  }
  if (error instanceof ScheduleAlreadyRunning) {
    const message =
      `A schedule ${JSON.stringify(id)} exists already; nothing was changed. ` +
      `Try: ${commandText('schedule', 'delete', id)}, or another id.`;
    throw new PlanwaveClientError('already_exists', message, { cause: error });
  }
  // The SDK has nothing else for what the server refuses.
  if (error instanceof TypeError) {
    const message =
      `The server refused the schedule: ${error.message.trim().replace(/\.$/, '')}. ` +
      'Try: a cron expression such as "0 2 * * *", and a time zone such as Europe/Berlin';
    throw new PlanwaveClientError('bad_input', message, { cause: error });
  }
  throw error;
}
