import { truncate, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFileReplyLedger } from '../../../activities/adapters/file-store/file-reply-ledger.ts';
import { createTemporaryHome, hostileNames } from './temporary-home.ts';
import type { TemporaryHome } from './temporary-home.ts';

let at: TemporaryHome;
beforeEach(async () => {
  at = await createTemporaryHome();
});
afterEach(() => at.remove());

const key = { workflow_id: 'run/wave-001/task', run_id: 'r', activity_id: '1' };
const value = { content: [{ type: 'text', text: 'Grüße 🌍\n\u2028' }], n: 1.5, none: null };
const createLedger = () => createFileReplyLedger({ home: at.home });
const entryFile = async (): Promise<string> => {
  const files = await at.list(join(at.home, 'ledger'));
  return join(at.home, 'ledger', files.at(-1) ?? '');
};

describe('the reply ledger', () => {
  it('finds what an earlier attempt, or another process, put there', async () => {
    expect(await createLedger().find(key)).toEqual([]);
    await createLedger().put(key, 1, value);
    expect(await createLedger().find(key)).toEqual([value]);
    await createLedger().put(key, 1, 'newer');
    expect(await createLedger().find(key)).toEqual(['newer']);
  });

  it('keeps what each attempt put apart, and gives it in their order', async () => {
    const ledger = createLedger();
    for (const attempt of [10, 2, 1]) await ledger.put(key, attempt, attempt);
    expect(await ledger.find(key)).toEqual([1, 2, 10]);
    await ledger.put(key, 2, 'newer');
    expect(await ledger.find(key)).toEqual([1, 'newer', 10]);
  });

  it('keys differ in each of their parts, and parts never run together', async () => {
    const ledger = createLedger();
    const keys = [
      key,
      { ...key, workflow_id: 'run' },
      { ...key, run_id: 'r2' },
      { ...key, activity_id: '2' },
      { workflow_id: 'a', run_id: 'b","c', activity_id: 'd' },
      { workflow_id: 'a","b', run_id: 'c', activity_id: 'd' },
    ];
    for (const [n, one] of keys.entries()) await ledger.put(one, 1, n);
    for (const [n, one] of keys.entries()) expect(await ledger.find(one)).toEqual([n]);
  });

  it.each([
    ['fault 49: a torn entry', async (path: string) => truncate(path, 100)],
    ['an empty entry', async (path: string) => truncate(path, 0)],
    [
      'an entry with a changed letter',
      async (path: string) =>
        writeFile(path, (await readFile(path, 'utf8')).replace('Grüße', 'Grüsse')),
    ],
    ['an entry that is no JSON', async (path: string) => writeFile(path, 'x\ny\n')],
  ])('%s counts as missing, and can be written again', async (_title, damage) => {
    const ledger = createLedger();
    await ledger.put(key, 1, value);
    await damage(await entryFile());
    expect(await ledger.find(key)).toEqual([]);
    await ledger.put(key, 2, 'another');
    expect(await ledger.find(key)).toEqual(['another']);
    await ledger.put(key, 1, value);
    expect(await ledger.find(key)).toEqual([value, 'another']);
  });

  it("another key's entry in its place counts as missing", async () => {
    const ledger = createLedger();
    await ledger.put(key, 1, value);
    const foreign = await readFile(await entryFile());
    const other = { ...key, activity_id: '2' };
    await createFileReplyLedger({ home: at.outside }).put(other, 1, 'x');
    const [, file = ''] = await at.list(join(at.outside, 'ledger'));
    await writeFile(join(at.outside, 'ledger', file), foreign);
    expect(await createFileReplyLedger({ home: at.outside }).find(other)).toEqual([]);
  });

  it('fault 51: hostile ids stay inside and apart', async () => {
    const ledger = createLedger();
    for (const name of hostileNames) await ledger.put({ ...key, workflow_id: name }, 1, name);
    for (const name of hostileNames) {
      expect(await ledger.find({ ...key, workflow_id: name })).toEqual([name]);
    }
    expect(await at.list(at.outside)).toEqual([]);
  });
});
