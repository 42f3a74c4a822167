import type { Ref } from '../../contracts/ref.ts';
import { StoreUnavailable } from '../../activities/ports/artifact-store.ts';
import type { LedgerKey, ReplyLedger } from '../../activities/ports/reply-ledger.ts';

/** Reply ledger in memory that can be made to fail. */
export interface MemoryLedger extends ReplyLedger {
  readonly entries: Map<string, ReadonlyMap<number, unknown>>;
  /** Look-ups so far. */
  finds: number;
  failingWrites: number;
}

function nameOf(key: LedgerKey): string {
  return JSON.stringify([key.workflow_id, key.run_id, key.activity_id]);
}

/** @param artifacts Those of the store that batches belong to. */
export function createMemoryLedger(artifacts = new Map<Ref, Uint8Array>()): MemoryLedger {
  const entries = new Map<string, ReadonlyMap<number, unknown>>();
  const ledger: MemoryLedger = {
    entries,
    finds: 0,
    failingWrites: 0,
    find: async (key) => {
      ledger.finds += 1;
      return [...(entries.get(nameOf(key)) ?? [])]
        .toSorted(([a], [b]) => a - b)
        .map(([, value]) => value);
    },
    list: async (place) =>
      [...entries].flatMap(([name, attempts]) => {
        const [workflow_id, run_id, activity_id] = JSON.parse(name);
        if (workflow_id !== place && !workflow_id.startsWith(`${place}/`)) return [];
        const key = { workflow_id, run_id, activity_id };
        return [...attempts].map(([attempt, value]) => {
          return { key, attempt, begun_at: 0, written_at: 0, value };
        });
      }),
    put: async (key, attempt, value, batch) => {
      if (ledger.failingWrites > 0) {
        ledger.failingWrites -= 1;
        throw new StoreUnavailable('The disk is full.', { path: 'ledger', code: 'ENOSPC' });
      }
      for (const [ref, bytes] of batch?.staged ?? []) artifacts.set(ref, bytes);
      // Stored as JSON like in a real ledger: what does not survive it is lost.
      const kept = JSON.parse(JSON.stringify(value)) as unknown;
      entries.set(nameOf(key), new Map([...(entries.get(nameOf(key)) ?? []), [attempt, kept]]));
    },
  };
  return ledger;
}
