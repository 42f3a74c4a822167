import { copyStores } from '../../activities/adapters/copy-stores.ts';
import { createFileProjection } from '../../activities/adapters/file-projection.ts';
import { openStores } from '../../activities/adapters/open-stores.ts';
import type { JudgedStores } from './read-attempts.ts';
import { exportRun } from '../../activities/run-record/export-run.ts';
import { readStoreSettings } from '../../worker/worker-settings.ts';

/** A store that workers with a home each share, as the campaign reads it. */
export interface SharedStore {
  readonly stored: JudgedStores;
  /**
   * Copies everything that is stored into the lane's home, and writes the files of runs there: what judges a run reads files.
   *
   * @throws when the copy differs from what it had of ended runs.
   */
  collect(runIds: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

/**
 * @param env Variables that name the store.
 * @param home Folder that takes the copy.
 */
export function openSharedStore(env: Readonly<Record<string, string>>, home: string): SharedStore {
  const from = openStores({ home, ...readStoreSettings(env) });
  return {
    stored: from,
    async collect(runIds) {
      const to = openStores({ home, cacheMaxBytes: 0 });
      try {
        await to.open();
        const { faults } = await copyStores(from, to);
        if (faults.length > 0)
          throw new Error(`The store can't be copied: ${JSON.stringify(faults)}`);
        const { store, index } = to;
        const projection = createFileProjection({ home });
        for (const runId of runIds) await exportRun({ store, index, projection }, runId);
      } finally {
        await to.close();
      }
    },
    close: () => from.close(),
  };
}
