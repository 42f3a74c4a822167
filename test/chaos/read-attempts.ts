import { createFileReplyLedger } from '../../activities/adapters/file-store/file-reply-ledger.ts';
import { isRecord } from '../../core/is-record.ts';
import { callersOf, readCallKey } from './call-name.ts';
import type { CallSites } from './call-sites.ts';

/** Entries that the ledger has of one call: one for each attempt that was about to send its request. */
export interface CallAttempts {
  readonly attempts: number;
  /** Calls that attempts told of. */
  readonly told: number;
  /** Calls that may have been billed: reservations of attempts that never told their end. */
  readonly reserved: number;
  /** Attempts that were not billed: the model refused them, or the request was not sent after all. */
  readonly free: number;
}

export const noAttempts: CallAttempts = { attempts: 0, told: 0, reserved: 0, free: 0 };

/**
 * Reads what the ledger has of each call of a run.
 *
 * @param counted The key under which each call that the model saw is counted, by its own key. An attempt at any other call
 *   stands under its own address.
 * @param sites Null for a run that was reset: then a call is found by the workflows that may have made it.
 */
export async function readAttempts(
  home: string,
  runId: string,
  counted: ReadonlyMap<string, string>,
  sites: CallSites | null,
): Promise<Readonly<Record<string, CallAttempts>>> {
  const keys = new Map(
    [...counted].flatMap(([callKey, key]) =>
      addressesOf(callKey, sites).map((address) => [address, key]),
    ),
  );
  const found: Record<string, CallAttempts> = {};
  for (const { key, value } of await createFileReplyLedger({ home }).list(runId, 0)) {
    const { workflow_id, run_id, activity_id } = key;
    const address = (
      sites === null ? [workflow_id, activity_id] : [workflow_id, run_id, activity_id]
    ).join(' ');
    const name = keys.get(address) ?? address;
    const before = found[name] ?? noAttempts;
    const told = readCount(value, 'calls');
    const reserved = readCount(value, 'unreported_calls');
    found[name] = {
      attempts: before.attempts + 1,
      told: before.told + told,
      reserved: before.reserved + reserved,
      free: before.free + (told + reserved === 0 ? 1 : 0),
    };
  }
  return found;
}

function addressesOf(callKey: string, sites: CallSites | null): string[] {
  if (sites !== null)
    return sites
      .of(callKey)
      .map(({ workflowId, runId, activityId }) => [workflowId, runId, activityId].join(' '));
  const address = readCallKey(callKey);
  return callersOf(address).map((place) => `${place} ${address.activityId}`);
}

function readCount(value: unknown, field: 'calls' | 'unreported_calls'): number {
  const spent = isRecord(value) && isRecord(value['spent']) ? value['spent'] : {};
  const count = spent[field];
  if (typeof count !== 'number') throw new Error(`An entry of the ledger has no ${field}.`);
  return count;
}
