import { createFileReplyLedger } from '../../../activities/adapters/file-store/file-reply-ledger.ts';
import { damageRecord, overwrite, storedRecords } from '../../support/stored-records.ts';
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
/** The newest record. */
const newest = async () => {
  const last = (await storedRecords(at.home)).at(-1);
  if (last === undefined) throw new Error('There is no record.');
  return last;
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

  it('lists what every execution of a run and of what is below it has, the newest of each attempt', async () => {
    const ledger = createLedger();
    const old = { ...key, run_id: 'before the reset' };
    await ledger.put({ ...key, workflow_id: 'run-2/wave-001' }, 1, 'of another run');
    await ledger.put(old, 1, 'reserved');
    await ledger.put(old, 1, 'told');
    await createLedger().put({ ...key, workflow_id: 'run' }, 3, 'of the run itself');
    const [told, ownLast] = await ledger.list('run', 0);
    expect(told).toMatchObject({ key: old, attempt: 1, value: 'told' });
    expect(ownLast).toMatchObject({
      key: { ...key, workflow_id: 'run' },
      attempt: 3,
      value: 'of the run itself',
    });
    expect(told?.begun_at).toBeLessThan(told?.written_at ?? 0);
    expect(ownLast?.begun_at).toBe(ownLast?.written_at);
    expect(await ledger.list('run', 0)).toHaveLength(2);
    expect(await ledger.list('run/wave-001', 0)).toHaveLength(1);
    expect(await ledger.list('run', Date.now() + 60_000)).toEqual([]);
    const last = await newest();
    await damageRecord(at.home, last.key, 'torn');
    expect(await createLedger().list('run', 0)).toHaveLength(1);
  });

  it.each(['torn', 'lost'] as const)(
    'fault 49: an entry that is %s counts as missing, and can be written again',
    async (how) => {
      const ledger = createLedger();
      await ledger.put(key, 1, value);
      await damageRecord(at.home, (await newest()).key, how);
      expect(await createLedger().find(key)).toEqual([]);
      await ledger.put(key, 2, 'another');
      expect(await createLedger().find(key)).toEqual(['another']);
      await ledger.put(key, 1, value);
      expect(await createLedger().find(key)).toEqual([value, 'another']);
    },
  );

  it('a changed letter counts as damage: then the record before counts, as its reservation', async () => {
    const ledger = createLedger();
    await ledger.put(key, 1, 'reserved');
    await ledger.put(key, 1, value);
    const { path, offset, body } = await newest();
    await overwrite(path, offset + body.indexOf('Gr'), Buffer.from('gr'));
    expect(await ledger.find(key)).toEqual(['reserved']);
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
