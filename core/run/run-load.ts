import type { RunLoad } from '../../contracts/run-settings.ts';
import { isRecord } from '../is-record.ts';

/** Temporal's names for the place of a task in its queue. */
interface TaskPriority {
  readonly priorityKey?: number;
  readonly fairnessKey?: string;
}

/**
 * Reads the place of a run in the queues from a header, a memo or a result.
 *
 * PQ1. What is missing or out of range is left out; a value with nothing in it is null.
 */
export function readRunLoad(value: unknown): RunLoad | null {
  if (!isRecord(value)) return null;
  const { priority, tenant, model_queue } = value;
  const load: RunLoad = {
    ...(isPriority(priority) && { priority }),
    ...(isTenant(tenant) && { tenant }),
    ...(typeof model_queue === 'string' && model_queue !== '' && { model_queue }),
  };
  return Object.keys(load).length === 0 ? null : load;
}

/** Place as an input, or a start command, has it. */
interface Asked {
  readonly priority?: number | undefined;
  readonly tenant?: string | undefined;
}

/**
 * Joins what the input says with what the start command said.
 *
 * PQ2. The input wins over the start command; each field on its own.
 */
export function chooseLoad(
  input: Asked,
  started?: Asked,
  modelQueue?: string,
): { readonly load?: RunLoad } {
  const load = readRunLoad({
    priority: input.priority ?? started?.priority,
    tenant: input.tenant ?? started?.tenant,
    model_queue: modelQueue,
  });
  return load === null ? {} : { load };
}

/** Returns the options by which Temporal places a child workflow; none for a run without a place. */
export function toPriority(load: RunLoad | null | undefined): { readonly priority?: TaskPriority } {
  if (load?.priority === undefined && load?.tenant === undefined) return {};
  const { priority, tenant } = load;
  return {
    priority: {
      ...(priority !== undefined && { priorityKey: priority }),
      ...(tenant !== undefined && { fairnessKey: tenant }),
    },
  };
}

/**
 * Returns the options by which Temporal places an activity.
 *
 * PQ3. Only model calls leave the run's task queue.
 */
export function placeActivity(
  activityType: string,
  load: RunLoad | null,
): { readonly priority?: TaskPriority; readonly taskQueue?: string } {
  const isModel = activityType === 'modelTurn' && load?.model_queue !== undefined;
  return { ...toPriority(load), ...(isModel && { taskQueue: load.model_queue }) };
}

/** Describes the place for people: `priority 1 · tenant acme`. Empty without one. */
export function describeLoad(load: RunLoad | null | undefined): string {
  return [
    ...(load?.priority === undefined ? [] : [`priority ${load.priority}`]),
    ...(load?.tenant === undefined ? [] : [`tenant ${load.tenant}`]),
  ].join(' · ');
}

function isPriority(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 5;
}

function isTenant(value: unknown): value is string {
  return typeof value === 'string' && /^[\w.-]{1,64}$/.test(value);
}
