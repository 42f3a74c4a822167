import { readdir, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { runDirectoryOf, hashKey } from '../../../activities/adapters/file-store/file-ledgers.ts';
import { itStores } from '../../support/store-contract.ts';
import { damageRecord, overwrite, storedRecords } from '../../support/stored-records.ts';
import { createTemporaryHome } from '../../unit/adapters/temporary-home.ts';

/** Tears the newest version of an entry. */
async function tear(folder: string): Promise<void> {
  const newest = (await readdir(folder)).toSorted().at(-1) ?? '';
  await truncate(join(folder, newest), 20);
}

describe('files', () => {
  itStores(async () => {
    const at = await createTemporaryHome();
    const { home } = at;
    return {
      home,
      remove: () => at.remove(),
      damageArtifact: async (ref) => void (await damageRecord(home, ref)),
      damageReply: async (key, which) => {
        if (which === 'all') return void (await damageRecord(home, hashKey(key)));
        const newest = (await storedRecords(home)).findLast((one) => one.key === hashKey(key));
        if (newest === undefined) throw new Error('There is no record.');
        await overwrite(newest.path, newest.offset + newest.body.indexOf('Gr'), Buffer.from('gr'));
      },
      damageRun: (name) => tear(join(home, 'refs', runDirectoryOf(name))),
      damageEffect: (key) => tear(join(home, 'effects', key.slice(0, 2), key.slice(2))),
    };
  });
});
