import type { CliDeps } from '../../../client/cli/cli-deps.ts';
import type { CheckedHome } from '../../../contracts/store.ts';
import { runCli } from '../../../client/cli/commands/program.ts';
import { createFakeDeps } from './support/fake-client.ts';
import { createFakeIo } from './support/fake-io.ts';

const whole: CheckedHome = { runs: 2, records: 40, bytes: 1_250_000, faults: [], repaired: [] };
const fault = { where: 'segments/x.seg', what: 'byte 7 is damaged', cure: 'restore the file' };

const openSession = (): Promise<never> => Promise.reject(new Error('must not connect'));

async function run(argv: readonly string[], checked: Partial<CheckedHome> = {}) {
  const io = createFakeIo();
  const asked: unknown[] = [];
  const checkHome: CliDeps['checkHome'] = async (options) => {
    asked.push(options);
    return { ...whole, ...checked };
  };
  const code = await runCli(argv, createFakeDeps(io, {}, { checkHome, openSession }));
  return { code, out: io.out(), asked };
}

it('says what it read, and ends with 0 when nothing is damaged', async () => {
  expect(await run(['fsck'])).toEqual({
    code: 0,
    out: 'Read 2 runs and 40 stored records, 1.3 MB: no damage.\n',
    asked: [{ repair: false, removeOrphans: false }],
  });
});

it('names each fault with its cure, and ends with 1', async () => {
  const { code, out } = await run(['fsck'], { faults: [fault] });
  expect(code).toBe(1);
  expect(out).toBe(
    'Read 2 runs and 40 stored records, 1.3 MB: 1 fault.\n' +
      'segments/x.seg: byte 7 is damaged.\n' +
      'Try: restore the file.\n',
  );
});

it('says what could not be checked, with its cure, and ends with 0', async () => {
  const unread = { where: 'the records of 2 runs', what: 'they were not followed', cure: 'add it' };
  const { code, out } = await run(['fsck'], { unchecked: [unread] });
  expect(code).toBe(0);
  expect(out).toContain(
    'no damage.\nNot checked: the records of 2 runs: they were not followed.\nTry: add it.\n',
  );
});

it('says what a repair has removed, also as JSON', async () => {
  const { code, out, asked } = await run(['fsck', '--repair'], { repaired: [fault] });
  expect(code).toBe(0);
  expect(out).toContain('no damage.\nRemoved: segments/x.seg: byte 7 is damaged.\n');
  expect(asked).toEqual([{ repair: true, removeOrphans: false }]);
  const json = await run(['fsck', '--repair', '--json'], { faults: [fault] });
  expect(json.code).toBe(1);
  expect(JSON.parse(json.out)).toMatchObject({ runs: 2, faults: [fault], repaired: [] });
});

it('removes objects without a row only when that is asked for', async () => {
  const orphans = { ...fault, where: 's3://bucket', what: '1 object of 0.1 MB that nothing names' };
  const { code, out, asked } = await run(['fsck', '--remove-orphans'], { repaired: [orphans] });
  expect(code).toBe(0);
  expect(out).toContain('Removed: s3://bucket: 1 object of 0.1 MB that nothing names.\n');
  expect(asked).toEqual([{ repair: false, removeOrphans: true }]);
});
