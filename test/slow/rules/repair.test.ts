import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownToolchain } from '../../../activities/adapters/sandbox/bubblewrap.ts';
import { openCommands } from '../../../worker/open-commands.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { runCommand } from '../../support/run-command.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

const commands = await openCommands({
  toolchains: ownToolchain(),
  sharedFolders: [],
  unconfined: false,
});
const { stage } = useStage({ commands });

const example = fileURLToPath(new URL('../../../examples/failing-test', import.meta.url));
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function copyExample(): string {
  const dir = mkdtempSync(join(tmpdir(), 'planwave-example-'));
  folders.push(dir);
  cpSync(example, dir, { recursive: true });
  return dir;
}

it('the example’s failing test is made to pass: searched, read, edited, run, edited again, run, reviewed', async () => {
  const dir = copyExample();
  const run = await stage.start('plannerRun', {
    goal: 'Make the failing test pass',
    workspace_dir: dir,
    changes: 'keep',
  });
  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed', waves: 1 });
  const { effects = [] } = await storedRecord(stage.home, run.workflowId);
  expect(effects.map(({ target, receipt }) => [target, receipt?.command?.exit_code])).toEqual([
    ['src/basket.js', undefined],
    ['node --test', 1],
    ['src/basket.js', undefined],
    ['node --test', 0],
    ['node --test', 0],
  ]);
  const source = (): string => readFileSync(join(dir, 'src/basket.js'), 'utf8');
  expect(source()).toContain('return a - b;');
  const applied = await runCommand(stage, ['apply', run.workflowId]);
  expect(applied).toMatchObject({ code: 0, out: expect.stringContaining('changed src/basket.js') });
  expect(source()).toContain('return a + b;');
  expect(await runCommand(stage, ['undo', run.workflowId])).toMatchObject({ code: 0 });
  expect(source()).toBe(readFileSync(join(example, 'src/basket.js'), 'utf8'));
  await expectPromisesKept(stage, run.workflowId);
});
