import { setTimeout as sleep } from 'node:timers/promises';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { TemporalFailure } from '@temporalio/common';
import type { FailureType, ModelFailureDetails } from '../../contracts/errors.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { Usage } from '../../contracts/usage.ts';
import { isAnyUsage } from '../../core/usage/add-usage.ts';
import { ArtifactCorrupt, StoreUnavailable } from '../ports/artifact-store.ts';
import type { ModelFailure } from '../ports/model-client.ts';
import { ThreadUnavailable } from '../ports/thread-store.ts';

/** Longest back-off of our own in milliseconds: long enough for an outage, short enough to notice its end. */
const backOffMaxMs = 120_000;

/**
 * Attempts after a protocol error. A body that is no message comes from a proxy or a wrong address: two repeats
 * distinguish a hiccup from that.
 */
const protocolAttemptsMax = 3;

/** Attempts after a fault of our own, which may be temporary; then it parks the run instead of buying calls. */
const internalAttemptsMax = 2;

/** Attempts at a thread, which a team can do without. */
const threadAttemptsMax = 2;

/** Faults of the machine that pass when it is repaired: Node's code, the words in which git tells them, and the cure. */
const machineFaults: readonly (readonly [code: string, words: string, cure: string])[] = [
  ['ENOSPC', 'No space left on device', 'free some space on the disk of the worker'],
  ['EDQUOT', 'Disk quota exceeded', "free some space, or raise the quota of the worker's user"],
  ['EROFS', 'Read-only file system', 'mount the file system writable'],
  ['ENFILE', 'Too many open files in system', 'raise the limit of open files of the machine'],
  ['EMFILE', 'Too many open files', 'raise the limit of open files (ulimit -n)'],
  ['EIO', 'Input/output error', 'check the disk of the worker'],
];

/** Gives every failure a type that workflows know. Passes on what Temporal itself throws. */
export async function guardActivity<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoreUnavailable) throw createFailure(error, error.type, false);
    if (error instanceof ArtifactCorrupt) throw createFailure(error, error.type, true);
    if (error instanceof TemporalFailure) throw error;
    if (error instanceof ThreadUnavailable)
      throw createFailure(error, error.type, attemptNow() >= threadAttemptsMax);
    const fault = error instanceof Error ? error : new Error(String(error));
    const machine = explainMachineFault(fault);
    if (machine !== null) throw createFailure(machine, 'StoreUnavailable', false);
    throw createFailure(fault, 'Internal', attemptNow() >= internalAttemptsMax);
  }
}

function attemptNow(): number {
  return Context.current().info.attempt;
}

/**
 * Converts a provider's failure to the form that Temporal keeps: type, message and details.
 *
 * @param attempt of the activity, from 1.
 * @param retryBaseMs first back-off, doubled with each attempt.
 * @param known additional details: the usage of all attempts so far, so that nothing that was billed is lost, and the
 * prompt.
 */
export function toModelFailure(
  error: ModelFailure,
  attempt: number,
  retryBaseMs: number,
  { spent, promptRef }: { readonly spent: Usage; readonly promptRef: Ref | null },
): ApplicationFailure {
  const isSpentTry = error.type === 'ModelProtocol' && attempt >= protocolAttemptsMax;
  const details: ModelFailureDetails = {
    ...error.details,
    usage: isAnyUsage(spent) ? spent : null,
    ...(promptRef !== null && { prompt_ref: promptRef }),
  };
  return ApplicationFailure.create({
    type: error.type,
    message: error.message,
    nonRetryable: !error.retryable || isSpentTry,
    nextRetryDelay: error.retryAfterMs ?? Math.min(retryBaseMs * 2 ** (attempt - 1), backOffMaxMs),
    details: [details],
    ...causeOf(error),
  });
}

function createFailure(error: Error, type: FailureType, nonRetryable: boolean): ApplicationFailure {
  return ApplicationFailure.create({
    type,
    message: error.message,
    nonRetryable,
    ...causeOf(error),
  });
}

/** Explains a fault of the machine outside of the store, such as a full disk under a worktree. @returns null for any other. */
function explainMachineFault(error: Error): Error | null {
  const code = 'code' in error ? error.code : null;
  const known = machineFaults.find(
    ([name, words]) => name === code || error.message.includes(words),
  );
  if (known === undefined) return null;
  const message = `${error.message}. Try: ${known[2]}. The run waits and continues by itself.`;
  return new Error(message, { cause: error });
}

function causeOf(error: Error): { cause?: Error } {
  return error.cause instanceof Error ? { cause: error.cause } : {};
}

/**
 * Number of tries. With the longest wait of 64 × `baseMs`, they take a quarter of an hour at 250 ms, most of what an
 * attempt may last.
 */
const triesMax = 60;
const backOffFactorMax = 64;

/** The patience while the attempt is being taken back. */
const hurriedTriesMax = 4;

interface RetryOptions {
  /** First wait in milliseconds, doubled each time. */
  readonly baseMs: number;
  /** Aborted when the attempt is cancelled. */
  readonly signal: AbortSignal;
  /** Called before each wait. */
  readonly onWait: (error: StoreUnavailable) => void;
}

/**
 * Runs idempotent store work and repeats it while the store can't be reached: a reply that is paid for waits for the
 * disk instead of being bought again.
 *
 * @throws StoreUnavailable when the last try fails too.
 */
export async function retryStore<T>(
  { baseMs, signal, onWait }: RetryOptions,
  work: () => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      // Each try waits for the one before it.
      // oxlint-disable-next-line no-await-in-loop
      return await work();
    } catch (error) {
      const isLast = tries >= (signal.aborted ? hurriedTriesMax : triesMax);
      if (!(error instanceof StoreUnavailable) || isLast) throw error;
      onWait(error);
    }
    const waitMs = baseMs * Math.min(2 ** (tries - 1), backOffFactorMax);
    // An attempt that is being taken back ends its first wait early.
    // oxlint-disable-next-line no-await-in-loop
    await sleep(waitMs, undefined, signal.aborted ? {} : { signal }).catch(() => undefined);
  }
}
