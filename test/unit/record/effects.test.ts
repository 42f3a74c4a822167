import { symlinkSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RecordedEffect } from '../../../contracts/effect.ts';
import type { RecordChange } from '../../../contracts/run-record.ts';
import { fileWorkspaces } from '../../support/file-workspaces.ts';
import { agent, createFolder, createHarness, useHarness } from './harness.ts';
import { question, usage } from './samples.ts';

const harness = useHarness();

const effectOf = (n: number, over: Partial<RecordedEffect> = {}): RecordedEffect => ({
  effect_id: `build/effect-${n}`,
  wave: 1,
  delegation_id: 'build',
  agent_id: 'engineer',
  tool: 'write_file',
  arguments_ref: 'a'.repeat(64),
  state: 'intended',
  target: '',
  receipt: null,
  reason: '',
  approval_question_id: null,
  updated_at: 1_760_000_000,
  ...over,
});
const confirmed = (n: number, target: string): RecordedEffect =>
  effectOf(n, {
    state: 'confirmed',
    target,
    receipt: { target, sha256: 'b'.repeat(64), bytes: 10 * n },
  });
const ran = (n: number, exit_code: number | null, isConfined: boolean): RecordedEffect => {
  const { receipt, ...effect } = confirmed(n, `run ${n}`);
  const command = { exit_code, confined: isConfined, output_ref: null };
  return { ...effect, receipt: receipt && { ...receipt, command } };
};
const change = (effect: RecordedEffect): RecordChange => ({ type: 'effect', effect });
const ended: RecordChange = { type: 'ended', status: 'completed', usage: usage(1) };

async function linesOf(runId: string): Promise<unknown[]> {
  const text = await readFile(join(harness.home, runId, 'effects.jsonl'), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}

it('an effect keeps its place, and what is known of it is not replaced by an intention', async () => {
  const run = await harness.begin('my-run');
  expect((await run.record()).effects).toBeUndefined();
  await run.apply(change(effectOf(1)), change(effectOf(2)));
  await run.apply(change(confirmed(1, 'a.md')));
  await run.apply(change(effectOf(1)));
  expect((await run.record()).effects).toEqual([confirmed(1, 'a.md'), effectOf(2)]);
  expect(await linesOf('my-run')).toEqual([confirmed(1, 'a.md'), effectOf(2)]);
});

it('an effect of a lost wave stays when the next wave uses its id again', async () => {
  const run = await harness.begin('my-run');
  await run.apply(change(confirmed(1, 'a.md')), { type: 'wave_lost', wave: 1, usage: usage(1) });
  const again = effectOf(1, { wave: 2, target: 'b.md' });
  await run.apply(change(again));
  expect((await run.record()).effects).toEqual([confirmed(1, 'a.md'), again]);
  const done = { ...confirmed(1, 'b.md'), wave: 2 };
  await run.apply(change(done));
  expect((await run.record()).effects).toEqual([confirmed(1, 'a.md'), done]);
});

it('the report says what was changed, and what is not confirmed', async () => {
  const run = await harness.begin('my-run');
  const skipped = effectOf(4, { state: 'skipped', target: 'c.md', reason: 'Other bytes.' });
  await run.apply(change(confirmed(1, 'a.md')), change(confirmed(2, 'a.md')), change(effectOf(3)));
  const { result: files } = await run.apply(change(skipped), ended);
  const result = await harness.deps.store.getText(files?.report_ref ?? '');
  expect(result).toContain(
    '## What was changed outside of the run\n\n- `a.md` by build: 20 bytes\n',
  );
  // At the end nobody is left who could tell how it came out.
  expect(result).toMatch(
    /are not confirmed\n\n- A call of build.*The run ended before.*\n- `c\.md` by/,
  );
  expect(await linesOf('my-run')).toMatchObject([{}, {}, { state: 'unverified' }, {}]);
});

it('the report says how a command ended, and that it ran without a sandbox', async () => {
  const run = await harness.begin('my-run');
  const { result } = await run.apply(
    change(ran(1, 1, true)),
    change(ran(2, 0, false)),
    change(ran(3, null, true)),
    ended,
  );
  const report = await harness.deps.store.getText(result?.report_ref ?? '');
  expect(report).toContain('- `run 1` by build: exit code 1\n');
  expect(report).toContain('- `run 2` by build: exit code 0, unconfined\n');
  expect(report).toContain('- `run 3` by build: ended at a limit\n');
});

it('an approval is no fact that others could build on', async () => {
  const run = await harness.begin('my-run');
  const approval = question('q1', { kind: 'approval' });
  await run.apply({ type: 'question_opened', question: approval });
  await run.apply({
    type: 'question_answered',
    answered: {
      question_id: 'q1',
      text: approval.text,
      delegation_id: 'build',
      answer: 'approve',
      answered_by: 'user',
      source_refs: [],
      answered_at: 1_760_000_100,
    },
    answer_ref: null,
  });
  const { facts, answered_questions } = await run.record();
  expect([facts, answered_questions.length]).toEqual([[], 1]);
});

it('a run whose tools changed nothing has no such file and no such part of its report', async () => {
  const run = await harness.begin('my-run');
  const { result } = await run.apply(ended);
  expect(await harness.deps.store.getText(result?.report_ref ?? '')).not.toContain('outside');
  await expect(linesOf('my-run')).rejects.toThrow('ENOENT');
});

it("finding T5: a workspace outside of the worker's folders is refused, with the cure", async () => {
  const [allowed, other, home] = await Promise.all([
    createFolder(),
    createFolder(),
    createFolder(),
  ]);
  symlinkSync(other, join(allowed, 'link'));
  const at = await createHarness({ workspaces: fileWorkspaces(home, [allowed]) });
  const open = (workspace_dir: string) => at.open('plannerRun', { goal: 'Go', workspace_dir });
  for (const dir of [other, join(allowed, 'link'), '/', join(allowed, '..')]) {
    await expect(open(dir)).rejects.toThrow(
      /workspace_dir: .*none of .*Try: .*PLANWAVE_WORKSPACES/,
    );
  }
  await expect(open(allowed)).resolves.toMatchObject({ goal_title: 'Go' });
});

it('a run without a workspace has no tools for one', async () => {
  const tools = ['load_detail', 'read_file'];
  const at = await createHarness({
    agents: () => ({ load: async () => [agent('planner'), agent('writer', tools)] }),
    toolNames: tools,
    toolProperties: {},
    workspaceTools: ['read_file'],
  });
  const toolsOf = async (input: object) =>
    (await at.open('plannerRun', { goal: 'Go', ...input })).agents.at(-1)?.allowed_tools;
  expect(await toolsOf({})).toEqual(['load_detail']);
  expect(await toolsOf({ workspace_dir: await createFolder() })).toEqual(tools);
});

it('the folder for files is in the record, and a wrong one is refused before anything is paid for', async () => {
  const dir = await createFolder();
  const { record_ref, store } = await harness.open('plannerRun', {
    goal: 'Go',
    workspace_dir: dir,
  });
  expect((await harness.record(record_ref)).workspace_dir).toBe(dir);
  // OS4: the working copies are in the home, also where it is the store.
  const { id, place } = await harness.deps.identifyStore();
  expect(store).toEqual({ id, place, home: { id, place } });
  expect((await harness.open('plannerRun', { goal: 'Go' })).store).toEqual({ id, place });
  for (const [bad, said] of [
    ['results', 'not absolute'],
    [join(dir, 'missing'), 'ENOENT'],
    [harness.home, "planwave's own files"],
  ] as const) {
    await expect(
      harness.open('delegation', { agent_id: 'writer', task_description: 'x', workspace_dir: bad }),
    ).rejects.toThrow(new RegExp(`workspace_dir: .*${said}.*Try: `));
  }
});

/** Opens a run in a workspace with these files. @param link Target of a link named AGENTS.md. */
async function guideOf(files: Readonly<Record<string, string>>, link?: string) {
  const dir = await createFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
  if (link !== undefined) symlinkSync(link, join(dir, 'AGENTS.md'));
  const { record_ref } = await harness.open('plannerRun', { goal: 'Go', workspace_dir: dir });
  const { workspace_guide: guide } = await harness.record(record_ref);
  return guide && { file: guide.file, text: await harness.deps.store.getText(guide.ref) };
}

it('a run keeps the guide of its workspace: AGENTS.md, else CLAUDE.md, the first 25 kB, and no link', async () => {
  const claude = { 'CLAUDE.md': 'Say please.' };
  expect(await guideOf({ ...claude, 'AGENTS.md': 'Use tabs.\n' })).toEqual({
    file: 'AGENTS.md',
    text: 'Use tabs.',
  });
  expect(await guideOf({ ...claude, 'AGENTS.md': ' \n' })).toMatchObject({ file: 'CLAUDE.md' });
  expect(await guideOf(claude, '/etc/hostname')).toMatchObject({ text: 'Say please.' });
  expect(await guideOf({})).toBeUndefined();
  const long = await guideOf({ 'AGENTS.md': 'Use tabs.\n'.repeat(10_000) });
  expect(long?.text.length).toBeGreaterThan(24_000);
  expect(long?.text.length).toBeLessThanOrEqual(25_000);
});
