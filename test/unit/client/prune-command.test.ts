import type { CliDeps } from '../../../client/cli/cli-deps.ts';
import type { Pruned } from '../../../contracts/store.ts';
import { runCli } from '../../../client/cli/commands/program.ts';
import { createFakeDeps } from './support/fake-client.ts';
import { createFakeIo } from './support/fake-io.ts';

type PruneOptions = Parameters<CliDeps['prune']>[0];

const openSession = (): Promise<never> => Promise.reject(new Error('must not connect'));

async function run(
  argv: readonly string[],
  pruned: Partial<Pruned> = {},
): Promise<{ code: number; out: string; err: string; asked: readonly PruneOptions[] }> {
  const io = createFakeIo();
  const asked: PruneOptions[] = [];
  const prune: CliDeps['prune'] = async (options) => {
    asked.push(options);
    return { runs: [], records: 0, bytes: 0, kept_by: null, ...pruned };
  };
  const code = await runCli(argv, createFakeDeps(io, {}, { prune, openSession }));
  return { code, out: io.out(), err: io.err(), asked };
}

it('finding T9: says what was removed, and which run keeps the rest', async () => {
  const pruned = { runs: ['tea-1', 'tea-2'], records: 1, bytes: 2_340_000, kept_by: 'hall' };
  const { code, out, asked } = await run(['prune', '--older-than', '30d'], pruned);
  expect(code).toBe(0);
  expect(out).toBe(
    'Removed 2 runs and 1 stored record, 2.3 MB.\n' +
      'Runs: "tea-1", "tea-2".\n' +
      'The run "hall" has not ended, so everything that was stored since it began stays.\n',
  );
  const days = (Date.now() / 1_000 - (asked[0]?.endedBefore ?? 0)) / 86_400;
  expect(days).toBeCloseTo(30, 2);
  expect(asked).toMatchObject([{ dryRun: false }]);
});

it('a dry run says what would be removed, also as JSON', async () => {
  const { out, asked } = await run(['prune', '--older-than', '1d', '--dry-run']);
  expect(out).toBe('Would remove 0 runs and 0 stored records, 0.0 MB.\n');
  expect(asked).toMatchObject([{ dryRun: true }]);
  const json = await run(['prune', '--older-than', '1d', '--dry-run', '--json'], { runs: ['a'] });
  expect(JSON.parse(json.out)).toMatchObject({ runs: ['a'], dry_run: true });
});

it.each([
  [['prune'], '--older-than'],
  [['prune', '--older-than', '30'], 'Expected a number of days of at least 1, as 30d'],
  [['prune', '--older-than', '0d'], 'Expected a number of days of at least 1, as 30d'],
])('%j removes nothing', async (argv, told) => {
  const { code, err, asked } = await run(argv);
  expect(code).not.toBe(0);
  expect(err).toContain(told);
  expect(asked).toEqual([]);
});
