import { defaultPayloadConverter, workflowInfo } from '@temporalio/workflow';
import type { Headers, WorkflowInterceptors } from '@temporalio/workflow';
import type { OpenRunInput } from '../../contracts/activity-types.ts';
import { loadHeader, storeHeader, workflowTypes } from '../../contracts/names.ts';
import type { StoreIdentity } from '../../contracts/store.ts';
import { isRecord } from '../../core/json.ts';
import {
  addModelQueue,
  placeActivity,
  readRunLoad,
  toPriority,
  readStoreIdentity,
} from '../../core/run/run-place.ts';
import type { RunLoad } from '../../contracts/limits.ts';

type Payload = Headers[string];

const toPayload = (value: StoreIdentity | RunLoad): Payload =>
  defaultPayloadConverter.toPayload(value);

/**
 * Stamps every activity of a run with the store in which the run is kept, so that a worker with another store refuses it
 * before it reads anything, and gives all work the run's place in the queues. The topmost workflow learns both from the result
 * of `openRun`; children and continuations inherit them. An evaluation and a consultation open no run: they learn the queue of
 * model calls, an evaluation its store from `openEvaluation`, and a consultation is told the store of the run that it is about.
 *
 * Puts no steps between a result and who waits for it: the order of a workflow's commands, on which replay depends, is the same
 * as without it.
 */
export function interceptors(): WorkflowInterceptors {
  let store: StoreIdentity | null = null;
  let load: RunLoad | null = null;
  const learn = (opened: unknown): void => {
    store = isRecord(opened) ? readStoreIdentity(opened['store']) : null;
    load = isRecord(opened) ? readRunLoad(opened['load']) : null;
  };
  const learnQueue = (opened: unknown): void => {
    load = addModelQueue(load, opened);
  };
  const learnStoreAndQueue = (opened: unknown): void => {
    store = (isRecord(opened) ? readStoreIdentity(opened['store']) : null) ?? store;
    learnQueue(opened);
  };
  const openers: ReadonlyMap<string, (opened: unknown) => void> = new Map([
    ['openRun', learn],
    ['openEvaluation', learnStoreAndQueue],
    ['openConsultation', learnQueue],
  ]);
  const stampStore = (headers: Headers): Headers =>
    store === null ? headers : { ...headers, [storeHeader]: toPayload(store) };
  const stamp = (headers: Headers): Headers => ({
    ...stampStore(headers),
    ...(load !== null && { [loadHeader]: toPayload(load) }),
  });
  return {
    inbound: [
      {
        execute(input, next) {
          const { parent, continuedFromExecutionRunId, workflowType } = workflowInfo();
          // Whoever starts a topmost workflow can't choose its store. A consultation reads that of another run.
          const isFirst = parent === undefined && continuedFromExecutionRunId === undefined;
          const [asked] = workflowType === workflowTypes.consultation ? input.args : [];
          const named = isRecord(asked) ? readStoreIdentity(asked['store']) : null;
          const inherited = readStoreIdentity(readHeader(input.headers[storeHeader]));
          store = isFirst ? named : inherited;
          load = isFirst ? null : readRunLoad(readHeader(input.headers[loadHeader]));
          // A consultation opens no run, from which it could learn its place.
          if (isFirst && workflowType === workflowTypes.consultation)
            load = readRunLoad(startedWith().load);
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity(input, next) {
          const options = { ...input.options, ...placeActivity(input.activityType, load) };
          const done = next({ ...input, options, headers: stampStore(input.headers) });
          // Runs before the caller goes on, because the caller waits for the same promise from later on.
          const open = openers.get(input.activityType);
          if (open !== undefined) void done.then(open, () => {});
          return done;
        },
        startChildWorkflowExecution(input, next) {
          const options = { ...input.options, ...toPriority(load) };
          return next({ ...input, options, headers: stamp(input.headers) });
        },
        continueAsNew: (input, next) => next({ ...input, headers: stamp(input.headers) }),
      },
    ],
  };
}

/** @returns undefined for a header that is missing or no JSON: it fails no workflow task. */
function readHeader(payload: Payload | undefined): unknown {
  if (payload === undefined) return undefined;
  try {
    return defaultPayloadConverter.fromPayload(payload);
  } catch {
    return undefined;
  }
}

/** Returns what `openRun` learns of the start: the chain, and the place in the queues as the start command gave it, unchecked. */
export function startedWith(): Pick<OpenRunInput, 'chain_id' | 'load'> {
  const { parent, firstExecutionRunId, priority } = workflowInfo();
  // Without one, the server may say 0 and "".
  const load: RunLoad = {
    ...(priority?.priorityKey && { priority: priority.priorityKey }),
    ...(priority?.fairnessKey && { tenant: priority.fairnessKey }),
  };
  return {
    // A child that its parent starts again, after a reset or for another evaluation, is the same run.
    ...(parent === undefined && { chain_id: firstExecutionRunId }),
    ...(Object.keys(load).length > 0 && { load }),
  };
}
