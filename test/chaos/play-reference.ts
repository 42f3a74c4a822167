import { historyJson } from '../support/histories.ts';
import type { EventJson, StoredHistory } from '../support/histories.ts';
import { playTrial } from './play-trial.ts';
import type { Lane } from './lane.ts';
import { createPrng } from '../support/prng.ts';
import type { CallName } from './call-name.ts';
import type { Reference } from './run-model.ts';
import { standardRun } from './runs/all-runs.ts';
import type { ReferenceRun } from './runs/reference-run.ts';
import type { Moment } from './strike.ts';

/** A moment at which the history of the undisturbed run grew. */
export type EventMoment = Extract<Moment, { at: 'event' }>;

/** The undisturbed run, and every moment at which it can be hurt. */
export interface PlayedReference extends Reference {
  readonly run: ReferenceRun;
  /** Bytes by which the home has grown. */
  readonly storeBytes: number;
  /** All events of all histories of the run. */
  readonly eventCount: number;
  /**
   * The first event of each write of every history, in the order of time, but the run's end: then nothing is left to be
   * hurt. Nothing can happen between events that the server writes in one transaction.
   */
  readonly events: readonly EventMoment[];
}

/** When a run can be hurt: at these events, and in these calls. */
export type Moments = Pick<PlayedReference, 'events' | 'calls'>;

/** Those of one delegation and of what is below it. @param task its id; if undefined, those of the whole run. */
export function momentsOf({ events, calls }: Moments, task: string | undefined): Moments {
  if (task === undefined) return { events, calls };
  return {
    events: events.filter(({ path }) => `${path}/`.includes(`/${task}/`)),
    calls: calls.filter((call) => /^[^. ]+/.exec(call)?.[0] === task),
  };
}

/**
 * Plays a run without harm.
 *
 * @param run default: the one that the whole campaign hurts.
 * @param name unique in the campaign.
 * @throws when it does not end as it should: then nothing that is hurt can be compared with it.
 */
export async function playReference(
  lane: Lane,
  run: ReferenceRun = standardRun,
  name = 'reference',
): Promise<PlayedReference> {
  const { facts, stuck, broken, calls, runId, histories, storeBytes } = await playTrial(lane, {
    name,
    run,
    strikes: [],
    answering: isGenerated(run) || run.asksInSteps === true ? 'one by one' : 'plain',
    modelFaultChance: 0,
    random: createPrng(0),
    isHomeUsed: isGenerated(run),
  });
  const isWhole = facts?.status === 'completed' && facts.effectFaults.length === 0;
  if (facts === null || broken.length > 0 || !isWhole) {
    throw new Error(
      `The undisturbed run is no reference: ${JSON.stringify({ facts, stuck, broken })}`,
    );
  }
  const all = histories.map(({ workflowId, history, runId: execution }) => ({
    path: workflowId.slice(runId.length),
    continued: countContinuations(histories, execution),
    events: historyJson(history).events ?? [],
  }));
  const events = all.flatMap(({ path, continued, events: some }) =>
    some.filter(beginsWrite).map((event) => ({
      timeMs: Date.parse(String(event['eventTime'])),
      moment: {
        at: 'event' as const,
        path,
        continued,
        id: Number(event['eventId']),
        type: event.eventType.replace('EVENT_TYPE_', ''),
      },
    })),
  );
  return {
    run,
    facts,
    storeBytes,
    asksForMore: run.asksForMore === true,
    hasShortHistories: run.hasShortHistories === true,
    calls: calls.map((call): CallName => call.name),
    eventCount: all.flatMap(({ events: some }) => some).length,
    events: events
      .toSorted((a, b) => a.timeMs - b.timeMs)
      .map(({ moment }) => moment)
      .filter(({ path, type }) => path !== '' || type !== 'WORKFLOW_EXECUTION_COMPLETED'),
  };
}

/** Returns how often a workflow was continued as new before this execution. */
function countContinuations(histories: readonly StoredHistory[], execution: string): number {
  const { history } = histories.find(({ runId }) => runId === execution) ?? {};
  const started = history?.events?.[0]?.workflowExecutionStartedEventAttributes;
  const before = started?.continuedExecutionRunId;
  return before ? countContinuations(histories, before) + 1 : 0;
}

/**
 * Tells whether the server writes an event in another transaction than the one before it. A completed workflow task comes
 * with its commands, the end of an activity with its start, and a new workflow task with its cause.
 */
export function beginsWrite(event: EventJson): boolean {
  const { eventType: type } = event;
  if (type === 'EVENT_TYPE_WORKFLOW_TASK_SCHEDULED' || /_UPDATE_/.test(type)) return false;
  const attributes = Object.entries(event).find(([key]) => key.endsWith('EventAttributes'))?.[1];
  const { workflowTaskCompletedEventId, startedEventId } = Object(attributes);
  if (workflowTaskCompletedEventId !== undefined) return false;
  const isActivityEnd = /ACTIVITY_TASK_(?!SCHEDULED|STARTED)/.test(type);
  return !isActivityEnd || Number(startedEventId) !== Number(event['eventId']) - 1;
}

/** A generated run asks in several waves, so its answers cannot wait for all questions. */
function isGenerated({ early }: ReferenceRun): boolean {
  return early !== undefined;
}
