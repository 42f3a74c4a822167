import { defaultPayloadConverter, workflowInfo } from '@temporalio/workflow';
import type { Headers, WorkflowInterceptors } from '@temporalio/workflow';
import { storeHeader, workflowTypes } from '../../contracts/names.ts';
import type { StoreIdentity } from '../../contracts/store.ts';
import { readStoreIdentity } from '../../core/run/other-store.ts';
import { isRecord } from '../../core/is-record.ts';

/**
 * Stamps every activity of a run with the store in which the run is kept, so that a worker with another store refuses it
 * before it reads anything. The topmost workflow learns the store from the result of `openRun`; children and
 * continuations inherit it. A consultation is told the store of the run that it is about. A run that was opened by an older version has none.
 *
 * Puts no steps between a result and who waits for it, so existing histories replay.
 */
export function interceptors(): WorkflowInterceptors {
  let store: StoreIdentity | null = null;
  const learn = (opened: unknown): void => {
    store = isRecord(opened) ? readStoreIdentity(opened['store']) : null;
  };
  const stamp = <T extends { readonly headers: Headers }>(input: T): T =>
    store === null ? input : { ...input, headers: { ...input.headers, ...writeHeader(store) } };
  return {
    inbound: [
      {
        execute(input, next) {
          const { parent, continuedFromExecutionRunId, workflowType } = workflowInfo();
          // Whoever starts a topmost workflow can't choose its store. A consultation reads that of another run.
          const isFirst = parent === undefined && continuedFromExecutionRunId === undefined;
          const [asked] = workflowType === workflowTypes.consultation ? input.args : [];
          const named = isRecord(asked) ? readStoreIdentity(asked['store']) : null;
          store = isFirst ? named : readHeader(input.headers);
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity(input, next) {
          const done = next(stamp(input));
          // Runs before the caller goes on, because the caller waits for the same promise from later on.
          if (input.activityType === 'openRun') void done.then(learn, () => {});
          return done;
        },
        startChildWorkflowExecution: (input, next) => next(stamp(input)),
        continueAsNew: (input, next) => next(stamp(input)),
      },
    ],
  };
}

function writeHeader(store: StoreIdentity): Headers {
  return { [storeHeader]: defaultPayloadConverter.toPayload(store) };
}

function readHeader(headers: Headers): StoreIdentity | null {
  const payload = headers[storeHeader];
  if (payload === undefined) return null;
  try {
    return readStoreIdentity(defaultPayloadConverter.fromPayload(payload));
  } catch {
    // A header that is no JSON fails no workflow task.
    return null;
  }
}
