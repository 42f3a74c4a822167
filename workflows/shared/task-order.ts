import { workflowInfo } from '@temporalio/workflow';
import type {
  ActivateInput,
  ConcludeActivationInput,
  WorkflowInterceptors,
} from '@temporalio/workflow';

type Activation = Pick<
  ActivateInput['activation'],
  'jobs' | 'timestamp' | 'historyLength' | 'historySizeBytes' | 'isReplaying'
>;
type Job = NonNullable<Activation['jobs']>[number];
type Command = ConcludeActivationInput['commands'][number];

/**
 * Refuses a workflow task for which the workflow has already taken messages ahead, so that the task is done again from the
 * history.
 *
 * A query that waited while no worker was there brings the history up to now. A worker whose cache lacks the workflow,
 * or has it from earlier, hands all of it over before the query, also messages that no workflow task has completed yet, and
 * keeps the workflow (Core of `@temporalio/worker` 1.24). The task that comes next brings only what is newer. The history then has
 * the commands of two activations, a replay makes one of them, and may order its commands otherwise: the run would be stuck.
 *
 * WT1. What comes before a query without the start of a task was taken ahead.
 * WT2. What comes with the start of a task was taken ahead when the task was another worker's, which died. The query looks the
 *      same after a task of this worker. What comes next tells: after a task that was completed, the history has an event for
 *      each of its commands. Where it can't tell, after the first task since a replay and its time-out, the task is done again:
 *      that costs a replay. A task without commands that ended in time counts as completed.
 *
 * A task that brings nothing newer reaches no workflow: its commands come from one activation, as in a replay. What can't be told
 * here is in docs/decisions/0027-queries-that-outrun-a-workflow-task.md.
 */
export function interceptors(): WorkflowInterceptors {
  const order = createTaskOrder(() => workflowInfo().taskTimeoutMs);
  return {
    internals: [
      {
        activate(input, next) {
          order.check(input.activation);
          next(input);
        },
        concludeActivation(input, next) {
          const output = next(input);
          order.note(output.commands);
          return output;
        },
      },
    ],
  };
}

interface TaskOrder {
  /** Must be called before each activation of one workflow. @throws when a task follows on messages taken ahead. */
  readonly check: (activation: Activation) => void;
  /** Must be called with the commands of each activation. */
  readonly note: (commands: readonly Command[]) => void;
}

/** The newest task, as far as activations tell. */
interface Task {
  readonly id: string;
  readonly startedMs: number;
  /** Number of events up to its newest activation. */
  readonly length: number;
  readonly isReplay: boolean;
  /** True for the first that is no replay, in which the history of a query may end. */
  readonly isFirst: boolean;
  readonly commands: readonly Command[];
  readonly isQueried: boolean;
}

/** @param timeoutMs Returns the milliseconds that a task may take. */
export function createTaskOrder(timeoutMs: () => number): TaskOrder {
  let last: Task | null = null;
  let isAhead = false;
  return {
    check(activation) {
      const jobs = activation.jobs ?? [];
      if (jobs.every(isQuery)) {
        if (last !== null && jobs.some(isAlone)) last = { ...last, isQueried: true };
        return;
      }
      const next = taskOf(activation, last);
      if (next.id === last?.id) isAhead ||= next.length > last.length;
      else if (isAhead || wasLost(last, next, jobs, timeoutMs)) throw new Error(takenAhead);
      last = next;
    },
    note(commands) {
      if (last !== null) last = { ...last, commands: [...last.commands, ...commands] };
    },
  };
}

export const takenAhead =
  'A query came before this workflow task, and has shown the workflow some of its messages. The task is done again from the history.';

function isQuery({ queryWorkflow }: Job): boolean {
  return queryWorkflow !== null && queryWorkflow !== undefined;
}

/** Returns true for a query that came without a workflow task. Core gives all of them this id. */
function isAlone({ queryWorkflow }: Job): boolean {
  return queryWorkflow?.queryId === 'legacy_query';
}

/** Two tasks of a workflow differ in when each was started, or in how large the history was. */
function taskOf(activation: Activation, last: Task | null): Task {
  const { timestamp, historySizeBytes, historyLength, isReplaying } = activation;
  const { seconds, nanos } = timestamp ?? {};
  const id = [seconds, nanos, historySizeBytes].join(' ');
  const length = historyLength ?? 0;
  if (id === last?.id) return { ...last, length };
  const isReplay = isReplaying === true;
  return {
    id,
    startedMs: Number(String(seconds ?? 0)) * 1_000 + (nanos ?? 0) / 1_000_000,
    length,
    isReplay,
    isFirst: !isReplay && last?.isReplay === true,
    commands: [],
    isQueried: false,
  };
}

/** Returns true when the history holds no completion of a task that was taken with a query. */
function wasLost(
  last: Task | null,
  next: Task,
  jobs: readonly Job[],
  timeoutMs: () => number,
): boolean {
  if (last === null || !last.isQueried) return false;
  // The server drops a task that only refuses an update, and Core forgets its events.
  if (last.commands.some(({ updateResponse }) => updateResponse?.rejected)) return false;
  // Between the two starts are the end of the one task and the beginning of the other.
  const events = next.length - last.length - 3;
  const made = countMade(last.commands);
  const came = countCame(jobs);
  if (events < made.min + came.min) return true;
  const hasTimedOut = next.startedMs - last.startedMs >= timeoutMs();
  return last.isFirst && hasTimedOut && (events <= came.max || events > made.max + came.max);
}

/** Number of events, from and to. */
interface Range {
  readonly min: number;
  readonly max: number;
}

/** Counts the events of commands. What begins and is cancelled in one task leaves none, and neither does an answer to a query. */
function countMade(commands: readonly Command[]): Range {
  const begun = new Set(commands.map(readBegun));
  const undone = new Set(commands.map(readUndone));
  return sumRanges(
    commands.map((command) => {
      const [began, ends] = [readBegun(command), readUndone(command)];
      if (began !== null) return undone.has(began) ? none : one;
      if (ends !== null)
        return begun.has(ends) || command.cancelSignalWorkflow ? none : endOf(command);
      // Core lists patches in a search attribute too, until they are too many.
      if (command.setPatchMarker) return { min: 1, max: 2 };
      return command.respondToQuery || command.updateResponse?.rejected ? none : one;
    }),
  );
}

/** Returns the name of what a command begins and another one may cancel. */
function readBegun(command: Command): string | null {
  if (command.startTimer) return `timer ${command.startTimer.seq}`;
  if (command.scheduleActivity) return `activity ${command.scheduleActivity.seq}`;
  if (command.startChildWorkflowExecution)
    return `child ${command.startChildWorkflowExecution.seq}`;
  const signal = command.signalExternalWorkflowExecution;
  return signal ? `signal ${signal.seq}` : null;
}

/** Returns the name of what a command cancels. */
function readUndone(command: Command): string | null {
  if (command.cancelTimer) return `timer ${command.cancelTimer.seq}`;
  if (command.requestCancelActivity) return `activity ${command.requestCancelActivity.seq}`;
  if (command.cancelSignalWorkflow) return `signal ${command.cancelSignalWorkflow.seq}`;
  const child = command.cancelChildWorkflowExecution;
  return child ? `child ${child.childWorkflowSeq}` : null;
}

/** Counts the events of a cancellation. All but a timer may have ended in the same task, and then there is none. */
function endOf({ cancelTimer }: Command): Range {
  return cancelTimer ? one : { min: 0, max: 1 };
}

/** Counts the events that jobs stem from. An update comes without one, unless the server had to write it. */
function countCame(jobs: readonly Job[]): Range {
  return sumRanges(
    jobs.map((job) => {
      if (isQuery(job) || job.notifyHasPatch || job.updateRandomSeed) return none;
      if (job.doUpdate) return { min: 0, max: 1 };
      return job.resolveActivity ? eventsOfEnd(job.resolveActivity) : one;
    }),
  );
}

/** Counts the events of an end: the start of an activity is recorded with it, where it has started. */
function eventsOfEnd({ result }: NonNullable<Job['resolveActivity']>): Range {
  const hasStarted =
    result?.completed || (result?.failed && !result.failed.failure?.cause?.timeoutFailureInfo);
  return hasStarted ? { min: 2, max: 2 } : { min: 1, max: 2 };
}

const none: Range = { min: 0, max: 0 };
const one: Range = { min: 1, max: 1 };

function sumRanges(ranges: readonly Range[]): Range {
  return {
    min: ranges.reduce((sum, { min }) => sum + min, 0),
    max: ranges.reduce((sum, { max }) => sum + max, 0),
  };
}
