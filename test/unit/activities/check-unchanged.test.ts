import { createGitWorktrees } from '../../../activities/adapters/git/git-worktrees.ts';
import { createGitFixture, put } from '../../support/git-fixture.ts';
import { sayText } from '../../support/scripted-model.ts';
import { createBench, outputOf, runIn } from './bench.ts';

/** Lets an agent claim that no test was changed, after it changed these files. */
async function faultsAfter(changed: Readonly<Record<string, string>>) {
  const { home, dir } = createGitFixture({ 'test/a.test.js': 'old\n', 'src/a.js': 'old\n' });
  const worktrees = createGitWorktrees({ home });
  const output = outputOf({
    coverage: {
      criteria_met: [
        {
          criterion_id: 'c1',
          evidence: 'No file of test differs.',
          where: { kind: 'unchanged', value: 'test' },
        },
      ],
      criteria_unmet: [],
    },
  });
  const bench = await createBench({
    scripts: [sayText(JSON.stringify(output))],
    deps: { worktrees },
    record: { workspace_dir: dir },
  });
  const worker = { delegation_id: 'write-report', foundations: [] };
  put((await worktrees.open({ run_id: 'my-run', dir, worker })) ?? '', changed);
  const reading = { record_ref: bench.record_ref, upstream: [], loads_left: 3, acts: true };
  const input = bench.input({ delegation_id: 'write-report', reading });
  const { reply } = await runIn(bench.env(), bench.activities.modelTurn, input);
  if (reply.type !== 'output' || !('output' in reply.outline)) throw new Error(reply.type);
  return reply.outline.output.text_faults.filter(({ path }) => path.endsWith('.where'));
}

it('an agent that changed a test can’t say that it did not', async () => {
  expect(await faultsAfter({ 'test/a.test.js': 'new\n' })).toMatchObject([
    { reason: expect.stringContaining('test/a.test.js') },
  ]);
  expect(await faultsAfter({ 'test/b.test.js': 'added\n' })).toHaveLength(1);
});

it('an agent that changed other files can', async () => {
  expect(await faultsAfter({ 'src/a.js': 'new\n' })).toEqual([]);
});
