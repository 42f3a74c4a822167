import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WaveResult } from '../../../contracts/planner-wave.ts';
import type { ScriptedToolCall } from '../../../rehearsal/script.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { lastMessageOf } from '../../support/calls.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { runCommand } from '../../support/run-command.ts';
import { callsOf, completed, work, works } from '../../support/scripted-work.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const dir = mkdtempSync(join(tmpdir(), 'planwave-project-'));
const file = join(dir, 'src', 'price.ts');
mkdirSync(join(dir, 'src'));
writeFileSync(file, 'export const price = cents / 10;\n');
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const call = (name: string, input: object): ScriptedToolCall => ({ name, input });
const edit = call('edit_file', {
  path: 'src/price.ts',
  old_string: 'cents / 10',
  new_string: 'cents / 100',
});

it('finding T5: a file of the user is searched, read and, after an approval, edited; another agent reads the change', async () => {
  const reads = [
    call('search_files', { pattern: 'cents' }),
    call('read_file', { path: 'src/price.ts' }),
  ];
  stage.rehearsal.script([
    works('mend', { tool_use: [...reads, edit] }, 1),
    works('mend', { json: { ...completed('mend-done'), effects_claimed: ['src/price.ts'] } }),
    works('check', { tool_use: [call('read_file', { path: 'src/price.ts' })] }, 1),
    works('check', { json: completed('check-done') }),
  ]);
  const run = await stage.start('plannerWave', {
    goal: 'Mend the price',
    workspace_dir: dir,
    changes: 'direct',
    delegations: [
      work('mend', { agent_id: 'engineer' }),
      work('check', { agent_id: 'reviewer', depends_on: ['mend'] }),
    ],
  });
  const { text } = await openQuestion(stage, run);
  expect(text).toMatch(/did not write it.*\n- cents \/ 10\n\+ cents \/ 100\n/s);
  expect(readFileSync(file, 'utf8')).toContain('cents / 10;');
  await submit(run, { question_id: 'q1', answer: 'approve' });
  const wave: WaveResult = await run.result();
  expect(wave.outcomes.map(({ status }) => status)).toEqual(['completed', 'completed']);
  expect(readFileSync(file, 'utf8')).toBe('export const price = cents / 100;\n');
  // All results of one reply come back together, in the order of its calls.
  const back = lastMessageOf(callsOf(stage.rehearsal, 'mend')[1]);
  expect(back).toMatch(/src\/price\.ts:1: export.*lines 1–1 of 1.*is written/s);
  expect(lastMessageOf(callsOf(stage.rehearsal, 'check')[1])).toContain('cents / 100');
  const { effects = [] } = await storedRecord(stage.home, run.workflowId);
  expect(effects).toMatchObject([
    {
      tool: 'edit_file',
      state: 'confirmed',
      receipt: { replaced_ref: expect.any(String), content_ref: expect.any(String) },
    },
  ]);
  await expectPromisesKept(stage, run.workflowId);
  // What was replaced is kept, and put back on wish.
  const { code, out } = await runCommand(stage, ['undo', run.workflowId]);
  expect([code, out]).toEqual([0, expect.stringContaining('changed src/price.ts')]);
  expect(readFileSync(file, 'utf8')).toBe('export const price = cents / 10;\n');
});
