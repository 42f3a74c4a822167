import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFileArtifactStore } from '../../../activities/adapters/file-store/file-artifact-store.ts';
import { createFileRunIndex } from '../../../activities/adapters/file-store/file-run-index.ts';
import { ownToolchain } from '../../../activities/adapters/sandbox/bubblewrap.ts';
import type { ScriptedToolCall } from '../../../rehearsal/script.ts';
import { createRunChanges } from '../../../scripts/run-changes.ts';
import { openCommands } from '../../../worker/open-commands.ts';
import { lastMessageOf } from '../../support/calls.ts';
import { createGitFixture, userGit } from '../../support/git-fixture.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { callsOf, completed, plan, plans, work, works } from '../../support/scripted-work.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

const commands = await openCommands({
  toolchains: ownToolchain(),
  sharedFolders: [],
  unconfined: false,
});
const { stage } = useStage({ commands });

const wrong = 'export const sum = (a, b) => a - b;\n';
const right = 'export const sum = (a, b) => a + b;\n';
const test = `import { equal } from 'node:assert';
import { test } from 'node:test';
import { sum } from './sum.mjs';
test('sum', () => equal(sum(1, 2), 3));
`;

const uses = (name: string, input: ScriptedToolCall['input']) => ({ tool_use: [{ name, input }] });
const writes = (content: string) => uses('write_file', { path: 'sum.mjs', content });
const runsTests = uses('run_command', { argv: ['node', '--test'] });

/** A folder with an agent that works on code. */
function provideEngineer(): string {
  const folder = join(stage.home, 'agents-that-run');
  mkdirSync(folder, { recursive: true });
  const tools = 'write_file, git_status, git_diff, run_command';
  const matter = `name: builder\ndescription: Changes code and runs it.\ntools: ${tools}`;
  writeFileSync(join(folder, 'builder.md'), `---\n${matter}\n---\n\nYou make tests pass.\n`);
  return folder;
}

it('an engineer makes a failing test pass in a worktree, a tester sees it pass, and the user takes it over', async () => {
  const { dir } = createGitFixture({ 'sum.mjs': wrong, 'sum.test.mjs': test });
  stage.rehearsal.script([
    plans(
      1,
      plan([
        work('fix', { agent_id: 'builder' }),
        work('check', { agent_id: 'builder', depends_on: ['fix'] }),
      ]),
    ),
    works('fix', runsTests, 1),
    works('fix', writes(right), 2),
    works('fix', runsTests, 3),
    works('fix', uses('git_diff', {}), 4),
    works('fix', { json: { ...completed('fix-done'), effects_claimed: ['node --test'] } }),
    works('check', runsTests, 1),
    works('check', { json: completed('check-done') }),
  ]);
  const run = await stage.start('plannerRun', {
    goal: 'Make the failing test pass',
    agents_dir: provideEngineer(),
    workspace_dir: dir,
    changes: 'keep',
  });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  const [, failed, , passed, diffed] = callsOf(stage.rehearsal, 'fix').map(lastMessageOf);
  expect(failed).toMatch(/node --test\\nexit code 1, after/);
  expect(failed).toContain('/workspace/sum.test.mjs');
  expect(failed).not.toContain(stage.home);
  expect(passed).toMatch(/exit code 0, after/);
  expect(diffed).toContain('+export const sum = (a, b) => a + b;');
  expect(lastMessageOf(callsOf(stage.rehearsal, 'check')[1])).toMatch(/exit code 0, after/);
  const { effects = [] } = await storedRecord(stage.home, run.workflowId);
  expect(effects.map(({ target, receipt }) => [target, receipt?.command?.exit_code])).toEqual([
    ['node --test', 1],
    ['sum.mjs', undefined],
    ['node --test', 0],
    ['node --test', 0],
  ]);
  const report = readFileSync(join(stage.home, run.workflowId, 'report.md'), 'utf8');
  expect(report).toContain('`node --test` by check: exit code 0');

  expect(userGit(dir, 'status', '--porcelain')).toBe('');
  const { home } = stage;
  const files = { store: createFileArtifactStore({ home }), index: createFileRunIndex({ home }) };
  const changes = createRunChanges(home, files);
  expect(await changes.diff(run.workflowId, 'fix')).toContain('a + b');
  expect(await changes.diff(run.workflowId, 'check')).toBe('');
  expect(await changes.apply(run.workflowId)).toEqual({
    dir,
    files: [{ change: 'changed', path: 'sum.mjs' }],
  });
  expect(readFileSync(join(dir, 'sum.mjs'), 'utf8')).toBe(right);
  await changes.undo(run.workflowId);
  expect(userGit(dir, 'status', '--porcelain')).toBe('');
  await expectPromisesKept(stage, run.workflowId);
}, 90_000);

it('two delegations that change the same line are a conflict that the one who builds on both can report', async () => {
  const { dir } = createGitFixture({ 'sum.mjs': wrong });
  stage.rehearsal.script([
    plans(
      1,
      plan([
        work('one', { agent_id: 'builder' }),
        work('two', { agent_id: 'builder' }),
        work('both', { agent_id: 'builder', depends_on: ['one', 'two'] }),
      ]),
    ),
    works('one', writes('1\n'), 1),
    works('one', { json: completed('one-done') }),
    works('two', writes('2\n'), 1),
    works('two', { json: completed('two-done') }),
    works('both', runsTests, 1),
    works('both', { json: completed('both-done') }),
  ]);
  const run = await stage.start('plannerRun', {
    goal: 'Change a line twice',
    agents_dir: provideEngineer(),
    workspace_dir: dir,
    changes: 'keep',
    limits: { max_waves: 1 },
    use_defaults: true,
  });
  await stage.result(run);
  expect(lastMessageOf(callsOf(stage.rehearsal, 'both')[1])).toMatch(
    /changed the same lines of .*sum\.mjs/,
  );
  expect(readFileSync(join(dir, 'sum.mjs'), 'utf8')).toBe(wrong);
}, 90_000);
