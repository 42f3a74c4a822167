import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStores } from '../../../activities/adapters/open-stores.ts';
import { startObjectStore } from '../../cluster/object-store.ts';
import type { ObjectStore } from '../../cluster/object-store.ts';
import { findPrograms } from '../../cluster/programs.ts';
import { startOwnPostgres } from '../../support/own-postgres.ts';
import type { OwnPostgres } from '../../support/own-postgres.ts';
import { canMountForAll, expectFullDiskSurvived, mountDisk } from '../../support/tiny-disk.ts';
import type { MountedDisk } from '../../support/tiny-disk.ts';

const { folder: programs, missing } = findPrograms('objects');
if (programs === null) console.warn(`A bucket on a full disk is not tested. ${missing}`);
const canRun = programs !== null && canMountForAll;

(canRun ? describe : describe.skip)('a bucket on a full disk', () => {
  let disk: MountedDisk;
  let postgres: OwnPostgres;
  let objects: ObjectStore;
  const home = mkdtempSync(join(tmpdir(), 'planwave-full-'));

  beforeAll(async () => {
    disk = mountDisk({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 });
    postgres = await startOwnPostgres();
    objects = await startObjectStore(programs ?? '', disk.folder);
  });
  afterAll(async () => {
    await objects.stop();
    await postgres.stop();
    disk.unmount();
    rmSync(home, { recursive: true, force: true });
  });

  it('is told with its cure, loses nothing, and takes writes when it has space', async () => {
    const { AWS_ACCESS_KEY_ID = '', AWS_SECRET_ACCESS_KEY = '' } = objects.env;
    const artifacts = {
      url: objects.url,
      accessKeyId: AWS_ACCESS_KEY_ID,
      secretAccessKey: AWS_SECRET_ACCESS_KEY,
    };
    const stores = openStores({ home, storeUrl: postgres.url, artifacts });
    expect(await stores.open()).toBeNull();
    const said =
      /artifacts at s3:.*: its disk is full \(InsufficientStorage\)\. Try: free some space there/;
    await expectFullDiskSurvived(stores, disk, said);
    await stores.close();
  });
});
