import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RecordedEffect } from '../../../contracts/effect.ts';
import type { ScriptRule } from '../../../rehearsal/script.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { completed, work } from '../../support/scripted-work.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useProcessStages } from '../../support/use-stage.ts';
import { startWorkerProcess } from '../../support/worker-process.ts';
import { provideWritingAgent } from '../../support/writing-agent.ts';

const { stage } = useProcessStages();

const stall = fileURLToPath(new URL('../../support/stall-rename.mjs', import.meta.url));
const content = 'The only text.';

/** Each is the one file of a wave, and the name of its run. */
const files = ['before-it', 'after-it', 'after-all'] as const;

function startWorker(STALL: 'on' | 'off') {
  const STALL_LOG = join(stage.home, 'renames.log');
  return startWorkerProcess(stage, { NODE_OPTIONS: `--import=${stall}`, STALL, STALL_LOG });
}

/** Lists all renames of files so far, over all workers. */
function renames(): string[] {
  const log = join(stage.home, 'renames.log');
  return existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').toSorted() : [];
}

const pathOf = (name: string): string => join(stage.home, name, 'workspace', name);

function rulesOf(name: string): ScriptRule[] {
  const match = { callKeyIncludes: `${name}/build/`, schema: 'delegation' } as const;
  const tool_use = [{ name: 'write_file', input: { path: name, content } }];
  return [
    { match: { ...match, nth: 1 }, reply: { tool_use } },
    { match, reply: { json: { ...completed('build-done'), effects_claimed: [name] } } },
  ];
}

async function effectOf(name: string): Promise<RecordedEffect | undefined> {
  const { effects = [] } = await storedRecord(stage.home, name);
  expect(effects).toHaveLength(1);
  return effects[0];
}

it('fault 48: kill -9 in three tools at their effect: none is repeated, and what is unclear is asked', async () => {
  const agents_dir = provideWritingAgent(stage.home, 'builder');
  stage.rehearsal.script(files.flatMap(rulesOf));
  const input = {
    goal: 'Write it',
    agents_dir,
    delegations: [work('build', { agent_id: 'builder' })],
  };
  const worker = await startWorker('on');
  const [before, after, unclear] = await Promise.all(
    files.map((name) => stage.start('plannerWave', input, name)),
  );
  if (before === undefined || after === undefined || unclear === undefined) throw new Error();
  await eventually('three tools at work', async () => renames().length === 3);
  worker.signal('SIGKILL');
  expect(await worker.ended).toBe('SIGKILL');
  // The fault fired: each effect is begun, and nobody was told how it ended.
  const stalled = ['after-all: renamed', 'after-it: renamed', 'before-it: stalled'];
  expect(renames()).toEqual(stalled);
  expect(files.map((name) => existsSync(pathOf(name)))).toEqual([false, true, true]);
  writeFileSync(pathOf('after-all'), 'by somebody else');

  const second = await startWorker('off');
  for (const run of [before, after]) {
    await run.result();
    expect(await effectOf(run.workflowId)).toMatchObject({ state: 'confirmed' });
    expect(readFileSync(pathOf(run.workflowId), 'utf8')).toBe(content);
  }
  // Only what had certainly not happened was done again.
  const once = [...stalled.slice(0, 2), 'before-it: renamed', 'before-it: stalled'];
  expect(renames()).toEqual(once);
  const question = await openQuestion(stage, unclear);
  expect(question).toMatchObject({ kind: 'effect', default_answer: null, deadline_seconds: null });
  expect(question.choices).toEqual(['verified', 'retry', 'skip']);
  // The record is written beside the question.
  await eventually(
    'the effect in the record as unverified',
    async () => (await effectOf('after-all'))?.state === 'unverified',
  );

  // Whoever comes next does not act either, before somebody has said so.
  second.signal('SIGKILL');
  await second.ended;
  await startWorker('off');
  expect((await openQuestion(stage, unclear)).question_id).toBe(question.question_id);
  expect([renames(), readFileSync(pathOf('after-all'), 'utf8')]).toEqual([
    once,
    'by somebody else',
  ]);
  await submit(unclear, { question_id: question.question_id, answer: 'retry' });
  await unclear.result();
  expect(renames()).toEqual(['after-all: renamed', ...once]);
  expect(await effectOf('after-all')).toMatchObject({ state: 'confirmed', receipt: { bytes: 14 } });
  for (const name of files) await expectPromisesKept(stage, name, { refusedTasks: true });
});
