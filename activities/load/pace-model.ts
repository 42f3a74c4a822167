import { isRecord } from '../../core/json.ts';
import { StoreUnavailable } from '../ports/artifact-store.ts';
import { detailsWithoutRequest, ModelFailure, type ModelClient } from '../ports/model-client.ts';
import type { SharedValues } from '../ports/shared-values.ts';
import { changeShared } from './change-shared.ts';

/** Longest wait of one call in milliseconds, so that a change of the time to wait is noticed. */
const waitMaxMs = 900_000;

/** Part of a wait by which the calls that follow it are spread. */
const spread = 0.25;

/** Milliseconds of the wait after a 429 that names none. */
const unnamedWaitMs = 5_000;

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
 * PM1. After a 429, no worker of the store asks the same account before the time that it names, or for 5 s if it names none;
 *      each call then fails without being made, and is repeated after it.
 * PM2. A time only grows: an earlier one never replaces a later one.
 * PM3. A store that can't be reached stops no call here.
 * PM4. No worker waits longer than the provider asked, counted from when it learned of it: the clock of another may be wrong.
 */
export function paceModel(
  model: ModelClient,
  { values, account, now = Date.now, random = Math.random }: Pace,
): ModelClient {
  const name = `pace/${account}`;
  let known = { until: 0, sinceMs: 0 };
  const endOf = (value: unknown): number => {
    const { until, wait_ms } = readHold(value);
    if (until !== known.until) known = { until, sinceMs: now() };
    return Math.min(until, known.sinceMs + wait_ms);
  };
  const hold = (until: number, wait_ms: number): Promise<number> =>
    changeShared(values, name, (value) => {
      const end = endOf(value);
      return until > end ? { next: { until, wait_ms }, result: until } : { result: end };
    });
  return {
    async complete(request, options) {
      const end = values.read(name).then(({ value }) => endOf(value));
      const waitMs = (await orNothing(end)) - now();
      if (waitMs > 0) throw createWait(request.model, waitMs, random());
      try {
        return await model.complete(request, options);
      } catch (error) {
        const asked = askedWait(error);
        if (asked !== null) await orNothing(hold(now() + asked, asked));
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
  return error.details.status === rateLimited ? (error.retryAfterMs ?? unnamedWaitMs) : null;
}

/** Reads the end of the wait in Unix epoch milliseconds, by the clock of the worker that was told, and its length. */
function readHold(value: unknown): { readonly until: number; readonly wait_ms: number } {
  const { until, wait_ms = waitMaxMs } = isRecord(value) ? value : {};
  return typeof until === 'number' && typeof wait_ms === 'number'
    ? { until, wait_ms }
    : { until: 0, wait_ms: 0 };
}

async function orNothing(work: Promise<number>): Promise<number> {
  return work.catch((error: unknown) => {
    if (error instanceof StoreUnavailable) return 0;
    throw error;
  });
}
