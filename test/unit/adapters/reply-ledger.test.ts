import { createFileReplyLedger } from '../../../activities/adapters/file-store/file-ledgers.ts';
import { damageRecord, storedRecords } from '../../support/stored-records.ts';
import { createTemporaryHome, hostileNames } from './temporary-home.ts';
import type { TemporaryHome } from './temporary-home.ts';

let at: TemporaryHome;
beforeEach(async () => {
  at = await createTemporaryHome();
});
afterEach(() => at.remove());

const key = { workflow_id: 'run/wave-001/task', run_id: 'r', activity_id: '1' };
const createLedger = () => createFileReplyLedger({ home: at.home });

describe('the reply ledger in files', () => {
  it('fault 49: an entry whose header is damaged too counts as missing, and can be written again', async () => {
    const ledger = createLedger();
    await ledger.put(key, 1, 'lost');
    const [record] = await storedRecords(at.home);
    await damageRecord(at.home, record?.key ?? '', 'lost');
    expect(await createLedger().find(key)).toEqual([]);
    await ledger.put(key, 1, 'found');
    expect(await createLedger().find(key)).toEqual(['found']);
  });

  it('fault 51: hostile ids stay inside', async () => {
    const ledger = createLedger();
    for (const name of hostileNames) await ledger.put({ ...key, workflow_id: name }, 1, name);
    expect(await at.list(at.outside)).toEqual([]);
  });
});
