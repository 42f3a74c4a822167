import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ScriptedToolCall } from '../../../rehearsal/script.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { runCommand } from '../../support/run-command.ts';
import { completed, plan, plans, work, works } from '../../support/scripted-work.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useProcessStages } from '../../support/use-stage.ts';
import { startWorkerProcess } from '../../support/worker-process.ts';

const { stage } = useProcessStages();

const killing = fileURLToPath(new URL('../../support/kill-at-effects.mjs', import.meta.url));
const example = fileURLToPath(new URL('../../../examples/failing-test', import.meta.url));

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function provideBuilder(): string {
  const folder = join(stage.home, 'agents-that-act');
  mkdirSync(folder, { recursive: true });
  const tools = 'edit_file, write_file, delete_file, run_command';
  const matter = `name: builder\ndescription: Changes code and runs it.\ntools: ${tools}`;
  writeFileSync(join(folder, 'builder.md'), `---\n${matter}\n---\n\nYou make tests pass.\n`);
  return folder;
}

const calls: readonly ScriptedToolCall[] = [
  {
    name: 'edit_file',
    input: { path: 'src/basket.js', old_string: 'return a - b;', new_string: 'return a + b;' },
  },
  { name: 'write_file', input: { path: 'docs/change.md', content: 'Adds.\n' } },
  { name: 'delete_file', input: { path: 'README.md' } },
  { name: 'run_command', input: { argv: ['node', '--test'] } },
];

/** Returns the lines of the log that say one of these words. */
function logged(log: string, words: RegExp): string[] {
  return existsSync(log)
    ? readFileSync(log, 'utf8')
        .trim()
        .split('\n')
        .filter((line) => words.test(line))
    : [];
}

it('part of fault 48: kill -9 before, during and after each edit, write, removal and command of a repair: each is there once, and the user is not asked', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'planwave-killed-'));
  folders.push(dir);
  cpSync(example, dir, { recursive: true });
  const tests = calls.slice(-1);
  stage.rehearsal.script([
    plans(
      1,
      plan([
        work('mend', { agent_id: 'builder' }),
        work('check', { agent_id: 'builder', depends_on: ['mend'] }),
      ]),
    ),
    ...calls.map((call, at) => works('mend', { tool_use: [call] }, at + 1)),
    works('mend', { json: { ...completed('mend-done'), effects_claimed: ['src/basket.js'] } }),
    works('check', { tool_use: tests }, 1),
    works('check', { json: completed('check-done') }),
  ]);
  const log = join(stage.home, 'kills.log');
  const run = await stage.start('plannerRun', {
    goal: 'Make the failing test pass',
    agents_dir: provideBuilder(),
    workspace_dir: dir,
    changes: 'apply',
  });
  const ended = stage.result(run).then((result) => ({ result }));
  const env = { NODE_OPTIONS: `--import=${killing}`, KILL_LOG: log };
  let kills = 0;
  let end: Awaited<typeof ended> | null = null;
  while (end === null) {
    // One worker after the other.
    // oxlint-disable-next-line no-await-in-loop
    const worker = await startWorkerProcess(stage, env);
    // oxlint-disable-next-line no-await-in-loop
    end = await Promise.race([
      ended,
      worker.ended.then((how) => {
        expect(how).toBe('SIGKILL');
        kills += 1;
        return null;
      }),
    ]);
  }
  expect(end.result).toMatchObject({ status: 'completed', waves: 1 });

  // The faults fired: three for each call, in order.
  const points = logged(log, /^(?:before|during|after) /).map((line) => line.split(' '));
  const acting = calls.length + tests.length;
  expect(points.map(([point]) => point)).toEqual(
    Array.from({ length: acting }).flatMap(() => ['before', 'during', 'after']),
  );
  expect(new Set(points.map(([, effect]) => effect)).size).toBe(acting);
  expect(kills).toBe(3 * acting);

  const { effects = [] } = await storedRecord(stage.home, run.workflowId);
  expect(effects.map(({ target, state }) => [target, state])).toEqual([
    ['src/basket.js', 'confirmed'],
    ['docs/change.md', 'confirmed'],
    ['README.md', 'confirmed'],
    ['node --test', 'confirmed'],
    ['node --test', 'confirmed'],
  ]);
  expect(effects.flatMap(({ receipt }) => receipt?.command?.exit_code ?? [])).toEqual([0, 0]);
  // Each file was changed once. A command ran until its end was known: interrupted, unknown, known.
  expect(logged(log, /^made /)).toEqual(['made basket.js', 'made change.md', 'made README.md']);
  expect(logged(log, /^ran/)).toHaveLength(2 * 3);
  const { open, answered } = await stage.questions(run);
  expect([open, answered]).toEqual([[], []]);

  const all = readdirSync(dir, { recursive: true, encoding: 'utf8' }).toSorted();
  expect(all).toEqual([
    'docs',
    'docs/change.md',
    'package.json',
    'src',
    'src/basket.js',
    'test',
    'test/basket.test.js',
  ]);
  const before = readFileSync(join(example, 'src/basket.js'), 'utf8');
  expect(readFileSync(join(dir, 'src/basket.js'), 'utf8')).toBe(
    before.replace('return a - b;', 'return a + b;'),
  );
  expect(readFileSync(join(dir, 'docs/change.md'), 'utf8')).toBe('Adds.\n');
  const { out } = await runCommand(stage, ['diff', run.workflowId]);
  expect(out.match(/^diff --git /gmu)).toHaveLength(3);
  await expectPromisesKept(stage, run.workflowId);
}, 900_000);
