import { syncBuiltinESMExports } from 'node:module';
import { createFileArtifactStore } from '../../../activities/adapters/file-store/file-artifact-store.ts';
import { createFileReplyLedger } from '../../../activities/adapters/file-store/file-ledgers.ts';
import { rewriteSegment } from '../../../activities/adapters/file-store/rewrite-segment.ts';
import { listSegments } from '../../../activities/adapters/file-store/segment-files.ts';
import { openSegments } from '../../../activities/adapters/file-store/segments.ts';
import { createTemporaryHome } from './temporary-home.ts';

/** Called after a folder was listed: another process that changes it before its files are read. */
let afterListing: (() => Promise<void>) | null = null;
const files = process.getBuiltinModule('node:fs/promises');
const { readdir } = files;
Object.assign(files, {
  readdir: async (...args: Parameters<typeof readdir>) => {
    const names = await readdir(...args);
    const after = afterListing;
    afterListing = null;
    await after?.();
    return names;
  },
});
syncBuiltinESMExports();
afterAll(() => {
  Object.assign(files, { readdir });
  syncBuiltinESMExports();
});
const temporary = await createTemporaryHome();
afterAll(() => temporary.remove());
const { home } = temporary;
const key = { workflow_id: 'w', run_id: 'r', activity_id: '1' };

it('GS4: a new reader finds what is moved between the list of segments and the read of them', async () => {
  const writer = openSegments({ home });
  const ref = await createFileArtifactStore({ segments: writer }).put('moved');
  await createFileReplyLedger({ segments: writer }).put(key, 1, 'paid');
  const move = async (): Promise<void> => {
    for (const file of (await listSegments(home)) ?? []) {
      await rewriteSegment(home, file, { isKept: () => true });
    }
  };
  afterListing = move;
  expect(await createFileReplyLedger({ home }).find(key)).toEqual(['paid']);
  afterListing = move;
  expect(await createFileArtifactStore({ home }).has(ref)).toBe(true);
});
