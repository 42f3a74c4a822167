import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createGitWorktrees } from '../../../activities/adapters/git/git-worktrees.ts';
import {
  createSandbox,
  createUnconfinedRunner,
} from '../../../activities/adapters/sandbox/command-runner.ts';
import { probeSandbox } from '../../../activities/adapters/sandbox/probe-sandbox.ts';
import type { CommandRunner } from '../../../activities/ports/command-runner.ts';
import { createVerificationActivities } from '../../../activities/verification/create-verification-activities.ts';
import { EvidenceReport } from '../../../contracts/verification.ts';
import type { EvidenceCheck } from '../../../contracts/verification.ts';
import { plannedDelegation, wavePlan } from '../../support/factories.ts';
import { fileWorkspaces } from '../../support/file-workspaces.ts';
import { createGitFixture, put } from '../../support/git-fixture.ts';
import { notFound, oldAttempt } from '../../support/old-attempt.ts';
import { createBench, runIn } from '../../unit/activities/bench.ts';

const settings = { toolchains: [], sharedFolders: [] };
const probed = await probeSandbox(settings);
/** Where there is no sandbox, its place is taken: what a sandbox forbids is tested elsewhere. */
const runner: CommandRunner = probed.ok
  ? createSandbox(settings, probed.bwrap)
  : { ...createUnconfinedRunner(settings), confined: true };

interface Given {
  /** Files of the user. */
  readonly files?: Readonly<Record<string, string>>;
  /** Files that the delegation writes. */
  readonly changed?: Readonly<Record<string, string>>;
  readonly commands?: CommandRunner | null;
  /** True when the run works in the user's folder itself. */
  readonly direct?: boolean;
}

async function prepare(
  checks: readonly EvidenceCheck[],
  { files = {}, changed = {}, commands = runner, direct = false }: Given = {},
) {
  const { home, dir } = createGitFixture({ 'test/a.test.js': 'old\n', ...files });
  const worktrees = createGitWorktrees({ home });
  const workspaces = fileWorkspaces(home, undefined, worktrees);
  const verification = {
    verified_by: 'reviewer',
    checks: checks.map((check, i) => ({ criterion_id: `c${i + 1}`, check })),
  };
  const bench = await createBench({
    plan: wavePlan([plannedDelegation('fix', { verification })]),
    record: { workspace_dir: dir, ...(direct && { changes: 'direct' }) },
  });
  const worker = { delegation_id: 'fix', foundations: [] };
  const copy = direct ? dir : ((await worktrees.open({ run_id: 'my-run', dir, worker })) ?? '');
  put(copy, changed);
  const { store, plan_ref, record_ref } = bench;
  const projection = { write: () => Promise.resolve(), remove: () => Promise.resolve() };
  const activities = createVerificationActivities({
    store,
    projection,
    worktrees,
    workspaces,
    commands,
  });
  const where = {
    run_id: 'my-run',
    delegation_id: 'fix',
    plan_ref,
    record_ref,
    builds_on: [],
  };
  const keep = () => runIn(bench.env(), activities.keepWork, where);
  const gather = async (kept: string | null, env = bench.env()) => {
    const result = await runIn(env, activities.gatherEvidence, { ...where, kept });
    const text = await store.getText(result.evidence_ref);
    return { ...EvidenceReport.parse(JSON.parse(text)), failed: result.failed };
  };
  return { bench, copy, dir, keep, gather };
}

async function checkOne(check: EvidenceCheck, given?: Given) {
  const { keep, gather } = await prepare([check], given);
  const { kept } = await keep();
  const { checks, failed } = await gather(kept);
  return { ...checks[0], failed };
}

const sh = (script: string, exit_code = 0): EvidenceCheck => ({
  kind: 'command',
  argv: ['sh', '-c', script],
  exit_code,
});

it.each([
  ['passed', sh('echo fine'), 'exit code 0\nfine\n'],
  ['passed', sh('exit 3', 3), 'exit code 3\n'],
  ['failed', sh('echo 2 tests failed; exit 1'), 'exit code 1\n2 tests failed\n'],
  ['failed', sh('exit 0', 3), 'exit code 0\n'],
  ['failed', { kind: 'command', argv: ['no-such-program'], exit_code: 0 }, 'no-such-program'],
] satisfies readonly [string, EvidenceCheck, string][])(
  'a command has %s: %j',
  async (result, check, found) => {
    expect(await checkOne(check)).toMatchObject({
      criterion_id: 'c1',
      result,
      found: expect.stringContaining(found),
      failed: result === 'failed' ? 1 : 0,
    });
  },
);

it('a command sees what the delegation has changed', async () => {
  expect(await checkOne(sh('cat sum.js'), { changed: { 'sum.js': 'a + b\n' } })).toMatchObject({
    result: 'passed',
    found: expect.stringContaining('a + b'),
  });
});

it.each([
  ['without commands', null],
  ['without a sandbox', createUnconfinedRunner(settings)],
])('a worker %s leaves commands to the verifier', async (_case, commands) => {
  expect(await checkOne(sh('exit 1'), { commands })).toMatchObject({
    result: 'not_run',
    failed: 0,
  });
});

it('no command runs in a folder of the user, where nothing puts back what it changes', async () => {
  const { keep, gather, dir } = await prepare([sh('echo changed > new.txt')], { direct: true });
  const { kept } = await keep();
  expect(kept).toBeNull();
  expect((await gather(kept)).checks).toMatchObject([{ result: 'not_run' }]);
  expect(existsSync(join(dir, 'new.txt'))).toBe(false);
});

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

it.each([
  ['passed', 'out.md', null],
  ['passed', 'out.md', hash('text\n')],
  ['failed', 'out.md', hash('other\n')],
  ['failed', 'missing.md', null],
  ['failed', '../outside.md', null],
] as const)('a file has %s: %s %s', async (result, path, sha256) => {
  const given = { changed: { 'out.md': 'text\n' } };
  expect(await checkOne({ kind: 'file', path, sha256 }, given)).toMatchObject({ result });
});

it.each([
  ['passed', '{"count":3}', 'It fits.'],
  ['failed', '{"count":"3"}', 'count'],
  ['failed', '{}', 'count'],
  ['failed', 'count: 3', 'It is no JSON'],
] as const)('a JSON Schema has %s: %s', async (result, text, found) => {
  const schema = {
    type: 'object',
    properties: { count: { type: 'integer' } },
    required: ['count'],
  };
  const given = { changed: { 'out.json': text } };
  expect(await checkOne({ kind: 'schema', path: 'out.json', schema }, given)).toMatchObject({
    result,
    found: expect.stringContaining(found),
  });
});

it.each([
  ['passed', 'test', { 'src/a.js': 'new\n', 'test2/b.js': 'new\n' }],
  ['failed', 'test', { 'test/a.test.js': 'new\n' }],
  ['failed', './test/', { 'test/b.test.js': 'added\n' }],
] as const)('unchanged files have %s: %s, %j', async (result, path, changed) => {
  expect(await checkOne({ kind: 'unchanged', paths: [path] }, { changed })).toMatchObject({
    result,
  });
});

const spoil = 'echo spoiled > sum.js; echo new > made.txt; rm test/a.test.js';

it('a command leaves the files as they were, for the next check and for the delegation', async () => {
  const changed = { 'sum.js': 'a + b\n' };
  const same = { kind: 'file', path: 'sum.js', sha256: hash('a + b\n') } as const;
  const { keep, gather, copy } = await prepare([sh(spoil), same], { changed });
  const { checks, diff } = await gather((await keep()).kept);
  expect(checks).toMatchObject([{ result: 'passed' }, { result: 'passed' }]);
  expect(diff).toContain('+a + b');
  expect(diff).not.toContain('spoiled');
  expect(readdirSync(copy).toSorted()).toEqual(['sum.js', 'test']);
  expect(readFileSync(join(copy, 'sum.js'), 'utf8')).toBe('a + b\n');
});

it('a repeated check puts back what an interrupted one has changed', async () => {
  const changed = { 'sum.js': 'a + b\n' };
  let die: (() => void) | null = null;
  const commands: CommandRunner = {
    ...runner,
    async run(command, signal) {
      const end = await runner.run(command, signal);
      die?.();
      signal.throwIfAborted();
      return end;
    },
  };
  const check = sh(`cat sum.js; ${spoil}`);
  const { bench, keep, gather, copy } = await prepare([check], { changed, commands });
  const { kept } = await keep();
  const first = bench.env();
  die = () => first.cancel();
  // As for a worker that dies: nothing is put back behind the command.
  await expect(gather(kept, first)).rejects.toThrow('CANCELLED');
  expect(existsSync(join(copy, 'test/a.test.js'))).toBe(false);
  die = null;
  const { checks } = await gather(kept, bench.env(2));
  expect(checks).toMatchObject([
    { result: 'passed', found: expect.stringContaining('exit code 0\na + b\n') },
  ]);
  expect(readFileSync(join(copy, 'sum.js'), 'utf8')).toBe('a + b\n');
});

it('an attempt that comes back when another one has the work leaves the files as they are by then', async () => {
  let isLost = false;
  const env = oldAttempt(() => (isLost ? Promise.reject(notFound()) : Promise.resolve()));
  const set = await prepare([sh('true'), sh('true')], {
    commands: {
      ...runner,
      run: async () => {
        isLost = true;
        put(set.copy, { 'test/a.test.js': 'later work\n' });
        return { ending: 'exited', exit_code: 0, duration_ms: 1, output: '' };
      },
    },
  });
  const { kept } = await set.keep();
  await expect(set.gather(kept, env)).rejects.toThrow('somebody else may have the work');
  expect(readFileSync(join(set.copy, 'test/a.test.js'), 'utf8')).toBe('later work\n');
});

const checked = (script: string) => ({
  verified_by: 'reviewer',
  checks: [{ criterion_id: 'c1', check: sh(script) }],
});

it('checks of two delegations at once in the run’s own folder both end, and it stays as it was', async () => {
  const { home } = createGitFixture({ 'a.txt': 'a\n' });
  const workspaces = fileWorkspaces(home);
  const slow = 'cat kept.txt; echo spoiled > kept.txt; sleep 2; cat kept.txt';
  const bench = await createBench({
    plan: wavePlan([
      plannedDelegation('slow', { verification: checked(slow) }),
      plannedDelegation('quick', { verification: checked('echo spoiled > left.txt') }),
    ]),
  });
  const { store, plan_ref, record_ref } = bench;
  const folder = await workspaces.folderOf({ run_id: 'my-run', dir: null });
  put(folder, { 'kept.txt': 'kept\n' });
  const projection = { write: () => Promise.resolve(), remove: () => Promise.resolve() };
  const { gatherEvidence } = createVerificationActivities({
    store,
    projection,
    worktrees: createGitWorktrees({ home }),
    workspaces,
    commands: runner,
  });
  const gather = async (delegation_id: string) => {
    const where = { run_id: 'my-run', delegation_id, plan_ref, record_ref, builds_on: [] };
    const { evidence_ref } = await runIn(bench.env(), gatherEvidence, { ...where, kept: null });
    return EvidenceReport.parse(JSON.parse(await store.getText(evidence_ref))).checks;
  };
  const first = gather('slow');
  await setTimeout(1_000);
  expect(await gather('quick')).toMatchObject([{ result: 'passed' }]);
  expect(await first).toMatchObject([
    { result: 'passed', found: expect.stringContaining('kept\nspoiled\n') },
  ]);
  expect(readdirSync(folder)).toEqual(['kept.txt']);
  expect(readFileSync(join(folder, 'kept.txt'), 'utf8')).toBe('kept\n');
  expect(readdirSync(join(dirname(folder), 'worktrees'))).toEqual([]);
});
