import type { Stores } from '../../activities/ports/stores.ts';
import { isRecord } from '../../core/json.ts';
import { callersOf, readCallKey } from './call-name.ts';
import type { CallSites } from './call-sites.ts';

/** Part of a store that a judgement of a run reads. */
export type JudgedStores = Pick<Stores, 'store' | 'index' | 'ledger'>;

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
  ledger: JudgedStores['ledger'],
  runId: string,
  counted: ReadonlyMap<string, string>,
  sites: CallSites | null,
): Promise<Readonly<Record<string, CallAttempts>>> {
  const listed = await ledger.list(runId, 0);
  const entries = listed.map(({ key, value }) => {
    const { workflow_id, run_id, activity_id } = key;
    const parts = sites === null ? [workflow_id, activity_id] : [workflow_id, run_id, activity_id];
    return { address: parts.join(' '), value };
  });
  const keys =
    sites === null
      ? guessAddresses(counted, new Set(entries.map(({ address }) => address)))
      : readAddresses(counted, sites);
  const found: Record<string, CallAttempts> = {};
  for (const { address, value } of entries) {
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

function readAddresses(
  counted: ReadonlyMap<string, string>,
  sites: CallSites,
): ReadonlyMap<string, string> {
  return new Map(
    [...counted].flatMap(([callKey, key]) =>
      sites
        .of(callKey)
        .map((site) => [[site.workflowId, site.runId, site.activityId].join(' '), key] as const),
    ),
  );
}

/**
 * Names the call at each address. A delegation may have made it in its wave's workflow or in one of its own, where the
 * numbers of activities begin anew: a call with an entry in its own workflow has none in the wave's.
 */
function guessAddresses(
  counted: ReadonlyMap<string, string>,
  entries: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  return new Map(
    [...counted].flatMap(([callKey, key]) => {
      const address = readCallKey(callKey);
      const all = callersOf(address).map((place) => `${place} ${address.activityId}`);
      const own = all.find((one) => entries.has(one));
      return (own === undefined ? all : [own]).map((one) => [one, key] as const);
    }),
  );
}

function readCount(value: unknown, field: 'calls' | 'unreported_calls'): number {
  const spent = isRecord(value) && isRecord(value['spent']) ? value['spent'] : {};
  const count = spent[field];
  if (typeof count !== 'number') throw new Error(`An entry of the ledger has no ${field}.`);
  return count;
}
