import type { HistoryEvent, StoredHistory } from '../support/histories.ts';

/** Unix epoch milliseconds: when nobody was there any more, and when somebody was again. */
export interface Absence {
  readonly atMs: number;
  readonly readyAtMs: number;
}

/** How the work that a death left lying went on, in milliseconds from the moment a worker was there again. */
export interface Recovery {
  /** Until the first of it went on. */
  readonly firstMs: number;
  /** Until the last of it went on. */
  readonly allMs: number;
  /** Last recovered item: `workflow task`, or the name of an activity. */
  readonly last: string;
  /** Whether a model call lay there, which nothing tells from one that is still at work but missing heartbeats. */
  readonly callLeft: boolean;
}

/** A piece of work that lay there, and when somebody took it up. */
interface LeftWork {
  readonly what: string;
  readonly resumedAtMs: number;
}

/**
 * Reads from the histories of an ended run when the work went on that lay there when a worker was back. An activity has
 * gone on when its last attempt began, a workflow when a workflow task of it was completed.
 *
 * @param until Unix epoch milliseconds of the next death of the run. Work that it found still lying there is counted as
 *   waiting until then, which is less than the truth.
 * @returns null when nothing lay there: the run waited for a person, or was over.
 */
export function measureRecovery(
  histories: readonly StoredHistory[],
  absence: Absence,
  until = Infinity,
): Recovery | null {
  const left = histories.flatMap(({ history }) => [
    ...findLeftActivities(history.events ?? [], absence),
    ...findLeftTask(history.events ?? [], absence),
  ]);
  const waits = left
    .map(({ what, resumedAtMs }) => ({
      what,
      ms: Math.max(0, Math.min(resumedAtMs, until) - absence.readyAtMs),
    }))
    .toSorted((one, other) => one.ms - other.ms);
  const [first, last] = [waits.at(0), waits.at(-1)];
  if (first === undefined || last === undefined) return null;
  const callLeft = left.some(({ what }) => what === 'modelTurn');
  return { firstMs: first.ms, allMs: last.ms, last: last.what, callLeft };
}

function findLeftActivities(events: readonly HistoryEvent[], absence: Absence): LeftWork[] {
  const started = new Map(
    events.flatMap((event) => {
      const id = event.activityTaskStartedEventAttributes?.scheduledEventId;
      return id ? [[String(id), timeOf(event)] as const] : [];
    }),
  );
  return events.flatMap((event) => {
    const name = event.activityTaskScheduledEventAttributes?.activityType?.name;
    const resumedAtMs = started.get(String(event.eventId));
    if (!name || resumedAtMs === undefined || resumedAtMs <= absence.atMs) return [];
    return timeOf(event) > absence.readyAtMs ? [] : [{ what: name, resumedAtMs }];
  });
}

/** A workflow has at most one task at a time. */
function findLeftTask(events: readonly HistoryEvent[], absence: Absence): LeftWork[] {
  const completed = events.filter((event) => event.workflowTaskCompletedEventAttributes);
  const next = completed.find((event) => timeOf(event) > absence.atMs);
  const scheduled = events.findLast(
    (event) => event.workflowTaskScheduledEventAttributes && timeOf(event) <= absence.readyAtMs,
  );
  if (next === undefined || scheduled === undefined) return [];
  const isDone = completed.some(
    (event) => Number(event.eventId) > Number(scheduled.eventId) && timeOf(event) <= absence.atMs,
  );
  return isDone ? [] : [{ what: 'workflow task', resumedAtMs: timeOf(next) }];
}

/** Unix epoch milliseconds. */
export function timeOf({ eventTime }: HistoryEvent): number {
  return Number(eventTime?.seconds ?? 0) * 1_000 + Math.floor((eventTime?.nanos ?? 0) / 1_000_000);
}
