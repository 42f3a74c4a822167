import { definedOnly, isRecord } from '../json.ts';
import type { StoreIdentity } from '../../contracts/store.ts';
import type { RunLoad } from '../../contracts/limits.ts';

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

/**
 * Adds the queue of model calls to the place of a workflow that opens no run: an evaluation, or a consultation.
 *
 * @param opened Result of the activity that opened it.
 */
export function addModelQueue(load: RunLoad | null, opened: unknown): RunLoad | null {
  const found = isRecord(opened) ? readRunLoad(opened['load']) : null;
  return readRunLoad({ ...load, ...definedOnly({ model_queue: found?.model_queue }) });
}

/** Returns the options by which Temporal places a child workflow; none for a run without a place. */
export function toPriority(load: RunLoad | null | undefined): { readonly priority?: TaskPriority } {
  if (load?.priority === undefined && load?.tenant === undefined) return {};
  const { priority, tenant } = load;
  return { priority: definedOnly({ priorityKey: priority, fairnessKey: tenant }) };
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

/** Reads the identity of a store from a header, a memo or a result. @returns null when it is none. */
export function readStoreIdentity(value: unknown): StoreIdentity | null {
  if (!isRecord(value)) return null;
  const { id, place } = value;
  if (typeof id !== 'string' || id === '' || typeof place !== 'string') return null;
  const home = readStoreIdentity(value['home']);
  return { id, place, ...(home !== null && { home }) };
}

/**
 * Returns the identity of a store as a run or an evaluation records it.
 *
 * @param needsHome True when it works in a folder of the user's. The home is then named also where it is the store: that may be
 * copied into a database, without the working copies.
 */
export function recordStore({ id, place, home }: StoreIdentity, needsHome: boolean): StoreIdentity {
  const working = home ?? { id, place };
  return { id, place, ...(needsHome && { home: { id: working.id, place: working.place } }) };
}

/** Returns true when a store has the runs that were opened in another: it is the same one, or that one was copied into it. */
export function hasRunsOf(store: StoreIdentity, id: string): boolean {
  return store.id === id || (store.copied ?? []).includes(id);
}

/**
 * Decides whether a worker may read or write anything for a run.
 *
 * OS1. Two stores are the same when their ids are, wherever they lie: a home may be mounted at two places. A store into which
 *      another was copied is right for the runs of both.
 * OS2. A workflow that recorded no store, such as one whose input was not read yet, accepts every store.
 * OS3. A refusal names both stores, both places and the cure.
 * OS4. A run that works in a folder of the user's needs the home that has its working copies, too, also where the store is a
 *      database that others share. A home into which that home was copied has them. A run that recorded none
 *      accepts every home.
 *
 * @param kept The store in which the run is kept; null when it recorded none.
 * @returns why not, with a cure; null when it may.
 */
export function refuseOtherStore(kept: StoreIdentity | null, found: StoreIdentity): string | null {
  if (kept === null) return null;
  if (hasRunsOf(found, kept.id)) return refuseOtherHome(kept, found.home ?? found);
  return (
    `The run is kept in ${nameStore(kept)}, and this worker has ${nameStore(found)}. ` +
    'Nothing was read or written; the run waits for a worker that has its store. ' +
    'Try: start the worker with that home (PLANWAVE_HOME), or let all workers of the task queue share one store'
  );
}

function refuseOtherHome({ home }: StoreIdentity, found: StoreIdentity): string | null {
  if (home === undefined || hasRunsOf(found, home.id)) return null;
  return (
    `The working copies of the run's folder are in the home ${home.id} (${home.place}), and this worker has the home ` +
    `${found.id} (${found.place}). Nothing was read or written; the run waits for a worker that has its home. ` +
    'Try: start the worker with that home (PLANWAVE_HOME) on that host, or give runs with a folder a task queue of their own'
  );
}

/** Separates a worker's process and host from its store in the name that the server shows. */
const mark = ' store:';

/**
 * Names a worker for the server, so that each event says which store its worker had.
 *
 * @param process Number and host, such as `4711@host-a`.
 */
export function nameWorker(process: string, { id }: StoreIdentity): string {
  return `${process}${mark}${id}`;
}

/** Reads the name of a worker; one of other software tells no store. */
export function readWorkerName(name: string): {
  readonly process: string;
  readonly store: string | null;
} {
  const at = name.lastIndexOf(mark);
  return at === -1
    ? { process: name, store: null }
    : { process: name.slice(0, at), store: name.slice(at + mark.length) };
}

/** Names a store and its place, in the middle of a sentence. */
export function nameStore({ id, place }: StoreIdentity): string {
  return `the store ${id} (${place})`;
}
