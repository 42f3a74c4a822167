import { ApplicationFailure } from '@temporalio/activity';
import { defaultPayloadConverter } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { FailureType } from '../contracts/errors.ts';
import { storeHeader } from '../contracts/names.ts';
import { StoreUnavailable } from '../activities/ports/artifact-store.ts';
import type { IdentifyStore } from '../activities/ports/artifact-store.ts';
import { readStoreIdentity, refuseOtherStore } from '../core/run/run-place.ts';

/**
 * First wait in milliseconds after a refusal: the next worker that polls may have the right store. It grows slowly, because
 * the run stands still for the rest of it after that worker has come.
 */
const retryBaseMs = 100;
const retryGrowth = 1.5;
const retryMaxMs = 60_000;

/**
 * Creates an interceptor that refuses an activity before anything is read for it, when its run is kept in another store than
 * this worker's, or when this worker's store is gone. The server gives the activity to a worker again until one accepts it.
 *
 * @throws StoreUnavailable, which is retried.
 */
export function refuseOtherStores(identify: IdentifyStore): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      async execute({ headers, ...input }, next) {
        const payload = headers[storeHeader];
        const refusal = payload === undefined ? null : await findRefusal(payload, identify);
        if (refusal === null) return next({ headers, ...input });
        throw ApplicationFailure.create({
          type: 'StoreUnavailable' satisfies FailureType,
          message: refusal,
          nextRetryDelay: Math.min(retryBaseMs * retryGrowth ** (info.attempt - 1), retryMaxMs),
        });
      },
    },
  });
}

type Payload = Parameters<typeof defaultPayloadConverter.fromPayload>[0];

async function findRefusal(payload: Payload, identify: IdentifyStore): Promise<string | null> {
  try {
    const kept = readStoreIdentity(defaultPayloadConverter.fromPayload(payload));
    return refuseOtherStore(kept, await identify());
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    return error.message;
  }
}
