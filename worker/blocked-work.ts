import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ApplicationFailure } from '@temporalio/activity';
import type { Info } from '@temporalio/activity';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';
import type { FailureType } from '../contracts/errors.ts';
import { workPlace } from '../core/ids.ts';
import { hashBytes } from '../activities/text/bytes.ts';

/** Attempts at one activity that may block their worker. One may be bad luck, each costs a worker half a minute. */
const blockedAttemptsMax = 3;

/** A note of an attempt that blocked its worker. It holds no text, not even an id that a person chose. */
export interface BlockedAttempt {
  readonly activity_type: string;
  readonly attempt: number;
  /** The innermost function of the code that blocked, such as `findKeys (redaction/private-key.ts:12:3)`. */
  readonly where: string;
}

/**
 * Builds the path of an attempt's note, `<home>/blocked/ab/<rest>/<attempt>.json`, from a hash of its activity. Workers on
 * one home see each other's notes.
 */
export function noteFileOf(
  home: string,
  {
    workflowExecution,
    activityId,
    attempt,
  }: Pick<Info, 'workflowExecution' | 'activityId' | 'attempt'>,
): string {
  const { workflowId = '', runId = '' } = workflowExecution ?? {};
  const name = [workflowId, runId, activityId].join('\0');
  const key = hashBytes(name);
  return join(home, 'blocked', key.slice(0, 2), key.slice(2), `${attempt}.json`);
}

/**
 * Creates an interceptor that fails an activity which has blocked three workers, with the type that parks its run. A text
 * that blocks every worker then costs three restarts. The first attempt is never looked up, so it costs nothing.
 *
 * @throws Blocked, which is not retried. After `resume` the workflow starts a new activity, without notes.
 */
export function refuseBlockedWork(home: string): ActivityInterceptorsFactory {
  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        if (info.attempt > 1) await refuse(home, info, input.args[0]);
        return next(input);
      },
    },
  });
}

async function refuse(home: string, info: Info, order: unknown): Promise<void> {
  const folder = dirname(noteFileOf(home, info));
  const notes = await readdir(folder).catch(() => []);
  if (notes.length < blockedAttemptsMax) return;
  const { activityType, workflowExecution, workflowType } = info;
  const place = workPlace(workflowExecution?.workflowId ?? '', workflowType, delegationOf(order));
  const where = await readWhere(join(folder, notes.at(-1) ?? ''));
  throw ApplicationFailure.create({
    type: 'Blocked' satisfies FailureType,
    nonRetryable: true,
    message:
      `${activityType} of ${place} blocked ${notes.length} workers, which had to be ended${where}. ` +
      'It is not tried again by itself. Try: read the log of a worker, mend what blocks it, and resume; or stop',
  });
}

/** Reads the delegation from the input of an activity. One of the planner, or of no agent, has none. */
function delegationOf(order: unknown): string | undefined {
  if (typeof order !== 'object' || order === null || !('delegation_id' in order)) return undefined;
  return typeof order.delegation_id === 'string' ? order.delegation_id : undefined;
}

/** A note that can't be read, such as one that its worker was killed in, still counts. */
async function readWhere(file: string): Promise<string> {
  try {
    const { where }: BlockedAttempt = JSON.parse(await readFile(file, 'utf8'));
    return `, in ${where}`;
  } catch {
    return '';
  }
}
