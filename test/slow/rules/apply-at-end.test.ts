import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { waveWorkflowId } from '../../../core/ids.ts';
import type { ScriptedToolCall } from '../../../rehearsal/script.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { createGitFixture, put, userGit } from '../../support/git-fixture.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { completed, plan, plans, work, works } from '../../support/scripted-work.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const before = 'export const sum = (a, b) => a - b;\n';
const after = 'export const sum = (a, b) => a + b;\n';
const edit: ScriptedToolCall = {
  name: 'edit_file',
  input: { path: 'sum.js', old_string: 'a - b', new_string: 'a + b' },
};

/** Starts a run in which an engineer changes one line. */
async function startMend(input: object) {
  const { dir } = createGitFixture({ 'sum.js': before, 'other.js': 'x\n' });
  stage.rehearsal.script([
    plans(1, plan([work('mend', { agent_id: 'engineer' })])),
    works('mend', { tool_use: [edit] }, 1),
    works('mend', { json: { ...completed('mend-done'), effects_claimed: ['sum.js'] } }),
  ]);
  const run = await stage.start('plannerRun', { goal: 'Mend it', workspace_dir: dir, ...input });
  const text = (): string => readFileSync(join(dir, 'sum.js'), 'utf8');
  const fileOf = (name: string): string =>
    readFileSync(join(stage.home, run.workflowId, name), 'utf8');
  return { dir, run, text, fileOf };
}

it('the run asks at its end, shows the patch, and commits when the user says so', async () => {
  const { dir, run, text, fileOf } = await startMend({});
  const asked = await openQuestion(stage, run);
  expect(asked).toMatchObject({
    kind: 'changes',
    choices: ['apply', 'commit', 'keep'],
    default_answer: 'keep',
  });
  expect(asked.text).toMatch(
    /1 file \(\+1 −1 lines\): changed sum\.js.*\n-export.*a - b;\n\+export/s,
  );
  expect(text()).toBe(before);
  await submit(run, { question_id: asked.question_id, answer: 'commit' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  expect(text()).toBe(after);
  expect(userGit(dir, 'status', '--porcelain')).toBe('');
  expect(userGit(dir, 'log', '--format=%s by %an', '-1')).toBe('Mend it by planwave\n');
  expect(fileOf('result.md')).toMatch(
    /\*\*Changes:\*\* 1 file \(\+1 −1 lines\): they are committed/,
  );
  expect(fileOf('report.md')).toMatch(/- mend: 1 file \(\+1 −1 lines\)\n\n- changed sum\.js/);
  await expectPromisesKept(stage, run.workflowId);
});

it('what the user says while the run asks for the changes is planned for, and it asks again', async () => {
  const { run, text } = await startMend({});
  const { question_id } = await openQuestion(stage, run);
  stage.rehearsal.script([
    plans(1, plan([work('note', { agent_id: 'writer' })])),
    works('note', { json: completed('note-done') }),
  ]);
  await run.signal('amend', { instruction: 'Write a note on it, too.' });
  const again = await openQuestion(stage, run, 'q2');
  expect(again).toMatchObject({ kind: 'changes', wave: 2 });
  expect((await stage.questions(run)).open).toHaveLength(1);
  expect(text()).toBe(before);
  await submit(run, { question_id: again.question_id, answer: 'apply' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 2 });
  expect(text()).toBe(after);
  const { instructions, answered_questions } = await storedRecord(stage.home, run.workflowId);
  expect(instructions).toEqual(['Write a note on it, too.']);
  expect(answered_questions.map((one) => one.question_id)).not.toContain(question_id);
  await expectPromisesKept(stage, run.workflowId);
});

it.each([
  ['apply', {}, 'applied', after],
  ['keep', {}, 'kept', before],
  ['ask', { use_defaults: true }, 'kept', before],
])(
  'with "changes": "%s" %j nobody is asked, and they are %s',
  async (changes, more, state, text) => {
    const set = await startMend({ changes, ...more });
    expect(await stage.result(set.run)).toMatchObject({ status: 'completed' });
    expect(set.text()).toBe(text);
    const sizes = [{ delegation_id: 'mend', files_total: 1, lines_added: 1, lines_removed: 1 }];
    expect((await storedRecord(stage.home, set.run.workflowId)).settled_changes).toMatchObject({
      state,
      delegations: sizes,
    });
    const wave = stage.client.workflow.getHandle(waveWorkflowId(set.run.workflowId, 1));
    expect(await wave.query('wave')).toMatchObject({ changes: sizes });
  },
);

it('a folder with changes of the same lines stays as it is, and the record says why', async () => {
  const { dir, run, text } = await startMend({});
  const asked = await openQuestion(stage, run);
  put(dir, { 'sum.js': 'export const sum = (a, b) => a * b;\n' });
  await submit(run, { question_id: asked.question_id, answer: 'apply' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  expect(text()).toContain('a * b');
  expect((await storedRecord(stage.home, run.workflowId)).settled_changes).toMatchObject({
    state: 'kept',
    note: expect.stringMatching(/different changes of "sum\.js"/),
  });
});
