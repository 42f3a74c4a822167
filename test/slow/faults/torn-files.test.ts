import { readFileSync, truncateSync } from 'node:fs';
import type { WorkflowHandle } from '@temporalio/client';
import { openQuestion, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { runCommand } from '../../support/run-command.ts';
import {
  blocked,
  callsOf,
  completed,
  held,
  plan,
  plans,
  question,
  work,
  works,
  ownWorkflows,
} from '../../support/scripted-work.ts';
import { indexFile, storedRecord, storedText } from '../../support/stored-record.ts';
import { damageRecord } from '../../support/stored-records.ts';
import { untilIdle } from '../../support/until-idle.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

/** A run that waits for an answer, and whose worker is gone with all that it had in memory. */
async function waitAlone(): Promise<WorkflowHandle> {
  stage.rehearsal.script([
    plans(1, plan([work('ask')])),
    works('ask', { json: blocked([question('Which region?')], 'ask-done') }, 1),
    works('ask', { json: completed('ask-done') }),
    plans(2, plan([work('again', { criteria: ['ask-done'] })])),
    works('again', { json: completed('ask-done') }),
  ]);
  const run = await stage.start('plannerRun', {
    goal: 'Host the backup',
    limits: ownWorkflows,
  });
  await openQuestion(stage, run);
  await untilIdle(stage, run.workflowId);
  await stage.stopWorker();
  return run;
}

/** The address of the newest record of a run, by the index. */
function recordRef(run: WorkflowHandle): string {
  const { ref }: { ref: string } = JSON.parse(
    readFileSync(indexFile(stage.home, run.workflowId), 'utf8'),
  );
  return ref;
}

/** The head of the conversation of a delegation that waits, by its history. */
async function transcriptRef(workflowId: string): Promise<string> {
  const { events } = await stage.client.workflow.getHandle(workflowId).fetchHistory();
  const heads = (events ?? [])
    .map((event) => event.activityTaskCompletedEventAttributes?.result?.payloads?.[0]?.data)
    .flatMap(
      (data) => /"head":"([0-9a-f]{64})"/.exec(Buffer.from(data ?? []).toString())?.[1] ?? [],
    );
  return heads.at(-1) ?? '';
}

/** Leaves half of a file, as a power cut does where nothing waits for the disk. */
function tear(path: string): void {
  truncateSync(path, Math.floor(readFileSync(path).length / 2));
}

it('fault 49: a torn entry of the index is mended by the next write, and the run goes on', async () => {
  const run = await waitAlone();
  tear(indexFile(stage.home, run.workflowId));
  const shown = await runCommand(stage, ['export', run.workflowId]);
  expect(shown).toMatchObject({ code: 4, err: expect.stringMatching(/^There is no run /) });
  await stage.startWorker();
  await submit(run, { question_id: 'q1', answer: 'eu-west' });
  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed', waves: 1 });
  expect(stage.rehearsal.counts().calls).toBe(result.usage.calls);
  expect(await runCommand(stage, ['export', run.workflowId])).toMatchObject({ code: 0 });
  await expectPromisesKept(stage, run.workflowId, { refusedTasks: true });
});

it('fault 49: a torn record parks the run with its name, and what is put back lets it go on', async () => {
  const run = await waitAlone();
  const ref = recordRef(run);
  const damage = await damageRecord(stage.home, ref);
  await stage.startWorker();
  await submit(run, { question_id: 'q1', answer: 'eu-west' });
  const { parked_reason } = await eventually('a parked run', async () => {
    const status = await stage.status(run);
    return status.phase === 'parked' && status;
  });
  expect(parked_reason).toContain(
    `The artifact ${ref} is damaged: its bytes do not fit its address`,
  );
  await damage.mend();
  await run.signal('resume', {});
  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed', waves: 1 });
  expect(stage.rehearsal.counts().calls).toBe(result.usage.calls);
  await expectPromisesKept(stage, run.workflowId, { refusedTasks: true });
});

it('fault 49: a torn conversation parks the run with its name, is never sent, and goes on when it is put back', async () => {
  const run = await waitAlone();
  const ref = await transcriptRef(`${run.workflowId}/wave-001/ask`);
  const damage = await damageRecord(stage.home, ref);
  await stage.startWorker();
  await submit(run, { question_id: 'q1', answer: 'eu-west' });
  const { parked_reason } = await eventually('a parked run', async () => {
    const status = await stage.status(run);
    return status.phase === 'parked' && status;
  });
  expect(parked_reason).toContain(`${ref} is damaged: its bytes do not fit its address`);
  expect(callsOf(stage.rehearsal, 'ask')).toHaveLength(1);
  await damage.mend();
  await run.signal('resume', {});
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 1 });
  expect(callsOf(stage.rehearsal, 'ask')).toHaveLength(2);
  await expectPromisesKept(stage, run.workflowId, { refusedTasks: true });
});

it('fault 49: a torn artifact is mended when the same text is stored again', async () => {
  const run = await waitAlone();
  const { registry_ref } = await storedRecord(stage.home, run.workflowId);
  await damageRecord(stage.home, registry_ref);
  await stage.startWorker();
  // Another run has the same agents.
  const other = await stage.start('delegation', { agent_id: 'writer', task_description: 'Write.' });
  await other.result();
  expect(await storedText(stage.home, registry_ref)).toContain('"agents"');
  await submit(run, { question_id: 'q1', answer: 'eu-west' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 1 });
  await expectPromisesKept(stage, run.workflowId);
});

it('part of fault 35: a detail that can not be read is an error that its reader is told, and the run goes on without it', async () => {
  const loads = { tool_use: [{ name: 'load_detail', input: { detail_id: 'first' } }] };
  const late = held({ json: plan([work('second', { criteria: ['goal-1'] })]) });
  // The end of the run reads the file too.
  const told = held({ json: completed('goal-1') });
  const first = completed('first-done');
  const criteria_unmet = [{ criterion_id: 'goal-1', reason: 'It is only a step.' }];
  stage.rehearsal.script([
    plans(1, plan([work('first', { criteria: ['first-done', 'goal-1'] })])),
    works('first', { json: { ...first, coverage: { ...first.coverage, criteria_unmet } } }),
    { match: { schema: 'plan' }, reply: late.reply },
    works('second', loads, 1),
    works('second', told.reply),
  ]);
  const run = await stage.start('plannerRun', { goal: 'Read on', criteria: ['It is read.'] });
  await eventually('the second plan', async () => stage.rehearsal.calls().length === 4);
  // The record is written beside the plan.
  const detail = await eventually('the first detail', async () => {
    const { details } = await storedRecord(stage.home, run.workflowId);
    return details[0];
  });
  // What this worker has read stays in its memory.
  await stage.stopWorker();
  const damage = await damageRecord(stage.home, detail.output_ref);
  await stage.startWorker();
  late.release();
  const [, call] = await eventually('the second call', async () => {
    const calls = callsOf(stage.rehearsal, 'second');
    return calls.length === 2 && calls;
  });
  await damage.mend();
  told.release();
  expect(JSON.stringify(call?.body)).toMatch(
    /"is_error":true[^}]*damaged|damaged[^}]*"is_error":true/,
  );
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 2 });
  // The plan's prompt was rendered twice: before the file was torn, and after the worker came back.
  await expectPromisesKept(stage, run.workflowId, { orphans: true });
});
