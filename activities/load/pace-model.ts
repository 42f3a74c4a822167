import { isRecord } from '../../core/json.ts';
import { StoreUnavailable } from '../ports/artifact-store.ts';
import { detailsWithoutRequest, ModelFailure, type ModelClient } from '../ports/model-client.ts';
import type { SharedValues } from '../ports/shared-values.ts';
import { changeShared } from './change-shared.ts';

/** Longest wait in milliseconds: a clock that is wrong must not stop the work of all others. */
const waitMaxMs = 900_000;

/** Part of a wait by which the calls that follow it are spread. */
const spread = 0.25;

const rateLimited = 429;

export interface Pace {
  readonly values: SharedValues;
  /** Names the account at the provider without its key. */
  readonly account: string;
  /** Returns Unix epoch milliseconds. */
  readonly now?: () => number;
  /** Returns a number in [0, 1). */
  readonly random?: () => number;
}

/**
 * Slows all workers down when the provider tells one of them to.
 *
 * PM1. After a 429 with a time to wait, no worker of the store asks the same account before that time; each call then fails
 *      without being made, and is repeated after it.
 * PM2. A time only grows: an earlier one never replaces a later one.
 * PM3. A store that can't be reached stops no call here.
 */
export function paceModel(
  model: ModelClient,
  { values, account, now = Date.now, random = Math.random }: Pace,
): ModelClient {
  const name = `pace/${account}`;
  return {
    async complete(request, options) {
      const waitMs = (await orNothing(readUntil(values, name))) - now();
      if (waitMs > 0) throw createWait(request.model, waitMs, random());
      try {
        return await model.complete(request, options);
      } catch (error) {
        const asked = askedWait(error);
        if (asked !== null) await orNothing(hold(values, name, now() + asked));
        throw error;
      }
    },
  };
}

/** Creates the failure of a call that was not made. */
function createWait(model: string, waitMs: number, random: number): ModelFailure {
  const retryAfterMs = Math.round(Math.min(waitMs, waitMaxMs) * (1 + spread * random));
  const seconds = Math.ceil(retryAfterMs / 1_000);
  return new ModelFailure(
    `The model API has limited the rate (429), and asked another worker to wait. This call was not made; it is tried again by itself in ${seconds} s.`,
    {
      type: 'ModelUnavailable',
      retryable: true,
      retryAfterMs,
      details: {
        ...detailsWithoutRequest(model),
        status: rateLimited,
        type: 'rate_limit_error',
      },
    },
  );
}

function askedWait(error: unknown): number | null {
  if (!(error instanceof ModelFailure) || !error.retryable) return null;
  return error.details.status === rateLimited ? (error.retryAfterMs ?? null) : null;
}

async function readUntil(values: SharedValues, name: string): Promise<number> {
  return untilOf((await values.read(name)).value);
}

function hold(values: SharedValues, name: string, until: number): Promise<number> {
  return changeShared(values, name, (value) => {
    const known = untilOf(value);
    return until > known ? { next: { until }, result: until } : { result: known };
  });
}

function untilOf(value: unknown): number {
  const until = isRecord(value) ? value['until'] : undefined;
  return typeof until === 'number' ? until : 0;
}

async function orNothing(work: Promise<number>): Promise<number> {
  return work.catch((error: unknown) => {
    if (error instanceof StoreUnavailable) return 0;
    throw error;
  });
}
