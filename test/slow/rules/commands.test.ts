import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFileArtifactStore } from '../../../activities/adapters/file-store/file-artifact-store.ts';
import { createFileRunIndex } from '../../../activities/adapters/file-store/file-ledgers.ts';
import { ownToolchain } from '../../../activities/adapters/sandbox/bubblewrap.ts';
import type { ScriptedToolCall } from '../../../rehearsal/script.ts';
import { createRunChanges } from '../../../scripts/run-changes.ts';
import { openCommands } from '../../../worker/open-commands.ts';
import { lastMessageOf } from '../../support/calls.ts';
import { createGitFixture, userGit } from '../../support/git-fixture.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  callsOf,
  completed,
  decision,
  newestText,
  plan,
  plans,
  work,
  works,
} from '../../support/scripted-work.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';
import type { EvaluationResult } from '../../../contracts/evaluation.ts';
import type { WaveDecision } from '../../../contracts/wave-plan.ts';

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
  const changes = createRunChanges(home, async () => files);
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
});

/** Decides on a wave that two-done is open. */
const decides = (nth: number, over: Partial<WaveDecision>, names: object) => {
  const made = decision('two-done');
  const planner_decision = { ...made.planner_decision, ...names };
  const json: WaveDecision = { ...made, ...over, planner_decision };
  return { match: { schema: 'decision' as const, nth }, reply: { json } };
};

it('two delegations that change the same line are a conflict that the planner resolves by name', async () => {
  const { dir } = createGitFixture({ 'sum.mjs': wrong });
  const conflicts_resolved = [
    { conflict: 'conflict:merge/two', resolution: 'one stays', origin: 'one', superseded: 'two' },
  ];
  const reopened = { criteria_reopened: [{ criterion_id: 'two-done', reason: 'Dropped.' }] };
  const seen = { json: { ...completed('two-done'), effects_claimed: ['cat sum.mjs'] } };
  stage.rehearsal.script([
    plans(1, plan([work('one', { agent_id: 'builder' }), work('two', { agent_id: 'builder' })])),
    works('one', writes('1\n'), 1),
    works('one', { json: completed('one-done') }),
    works('two', writes('2\n'), 1),
    works('two', { json: completed('two-done') }),
    decides(1, {}, {}),
    decides(2, {}, { conflicts_resolved }),
    decides(3, reopened, { conflicts_resolved }),
    plans(2, plan([work('redo', { agent_id: 'builder', criteria: ['two-done'] })])),
    works('redo', uses('run_command', { argv: ['cat', 'sum.mjs'] }), 1),
    works('redo', seen),
  ]);
  const run = await stage.start('plannerRun', {
    goal: 'Change a line twice',
    agents_dir: provideEngineer(),
    workspace_dir: dir,
    changes: 'apply',
  });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 2 });
  const asked = stage.rehearsal.calls().filter(({ shape }) => shape === 'decision');
  expect(newestText(asked[0])).toMatch(/conflict:merge\/two.*lines of sum\.mjs.*is about files/s);
  expect(lastMessageOf(asked[1])).toMatch(/conflict:merge\/two is not resolved/);
  expect(lastMessageOf(asked[2])).toMatch(/the changes of two are dropped.*two-done/);
  // What is done again begins with what stands.
  expect(lastMessageOf(callsOf(stage.rehearsal, 'redo')[1])).toMatch(/exit code 0, after .*\\n1/);
  expect(readFileSync(join(dir, 'sum.mjs'), 'utf8')).toBe('1\n');
  const { waves } = await storedRecord(stage.home, run.workflowId);
  expect(waves[0]).toMatchObject({ dropped: ['two'] });
  await expectPromisesKept(stage, run.workflowId);
});

const command = (name: string, argv: readonly string[], exit_code = 0) => ({
  kind: 'command',
  name,
  argv,
  exit_code,
});

it('commands of an evaluation judge files and answer of a run in the sandbox, and leave nothing behind', async () => {
  const { dir } = createGitFixture({ 'sum.mjs': wrong, 'sum.test.mjs': test });
  const connects = `fetch(${JSON.stringify(stage.rehearsal.url)}).then(() => {}, () => process.exit(7))`;
  const handle = await stage.start(
    'evaluation',
    {
      name: 'commanded',
      goals: [{ name: 'sum', goal: 'Say what the sum is', workspace_dir: dir }],
      settings: [{ name: 'alone', run: 'model' }],
      graders: [
        command('tests', ['node', '--test']),
        command('answer', ['grep', '-qi', 'rehears']),
        command('writes', ['sh', '-c', 'echo x > left']),
        command('put-back', ['test', '!', '-e', 'left']),
        command('no-network', ['node', '-e', connects], 7),
      ],
    },
    'eval-commanded',
  );
  const { cells }: EvaluationResult = await handle.result();
  expect(cells[0]?.grades.map(({ grader, result }) => [grader, result])).toEqual([
    ['tests', 'failed'],
    ['answer', 'passed'],
    ['writes', 'passed'],
    ['put-back', 'passed'],
    ['no-network', 'passed'],
  ]);
  expect(userGit(dir, 'status', '--porcelain')).toBe('');
});
