import type { WorkflowHandle } from '@temporalio/client';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PlannerRunResult } from '../../../contracts/planner-run.ts';
import { openQuestion, rejectedMessages } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { runCommand } from '../../support/run-command.ts';
import { eventTypes } from '../../support/histories.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  blocked,
  callsOf,
  completed,
  decision,
  held,
  plan,
  plans,
  question,
  work,
  works,
} from '../../support/scripted-work.ts';
import { takes } from '../../support/scripted-triad.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { untilTold } from '../../support/until-idle.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const goal = 'Host the backup';
const asking = { json: blocked([question('Which region?')], 'ask-done') };
const stalled = { stall: 'in-stream', afterEvents: 4, json: completed('long-done') } as const;

function callInFlight(id: string): Promise<unknown> {
  return eventually(`a call of ${id}`, async () => callsOf(stage.rehearsal, id).length === 1);
}

/** The end that a stop has: what was done stands, and nothing is started after it. */
async function expectStopped(run: WorkflowHandle): Promise<PlannerRunResult> {
  const result = await stage.result(run);
  const { calls } = stage.rehearsal.counts();
  expect(result.status).toBe('stopped');
  expect(readFileSync(join(stage.home, result.result_path), 'utf8')).toContain(goal);
  expect(await stage.status(run)).toMatchObject({
    phase: 'stopped',
    result_path: result.result_path,
    wave_workflow_id: null,
  });
  const histories = await expectPromisesKept(stage, run.workflowId);
  for (const stored of histories) {
    expect(eventTypes(stored).at(-1)).toBe('EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED');
  }
  expect(stage.rehearsal.counts().calls).toBe(calls);
  return result;
}

it.each(['stop', 'cancel'])(
  '%s with calls in flight ends them and keeps what was done',
  async (how) => {
    stage.rehearsal.script([
      plans(1, plan([work('short'), work('long'), work('later', { depends_on: ['long'] })])),
      works('short', { json: completed('short-done') }),
      works('long', stalled),
    ]);
    const run = await stage.start('plannerRun', { goal });
    await eventually('the reply of long to begin', async () =>
      callsOf(stage.rehearsal, 'long').some(({ replyStatus }) => replyStatus === 200),
    );
    const wave = stage.client.workflow.getHandle(`${run.workflowId}/wave-001`);
    await eventually('short to complete', async () =>
      JSON.stringify(await wave.query('wave')).includes('"completed"'),
    );
    if (how === 'stop') await run.signal('stop', { reason: 'enough' });
    else await run.cancel();

    const result = await expectStopped(run);
    expect(callsOf(stage.rehearsal, 'long')[0]).toMatchObject({ outcome: 'client-closed' });
    expect(callsOf(stage.rehearsal, 'later')).toEqual([]);
    expect(result.criteria.map(({ criterion_id, state }) => [criterion_id, state])).toEqual([
      ['short-done', 'met'],
      ['long-done', 'open'],
      ['later-done', 'open'],
    ]);
    // The call that was cut is billed as well.
    expect(result.usage.calls).toBe(3);
  },
);

it.each(['plannerWave', 'delegation'] as const)('stop ends a %s alone, too', async (type) => {
  stage.rehearsal.script([{ match: { schema: 'delegation' }, reply: stalled }]);
  const run = await stage.start(
    type,
    type === 'plannerWave'
      ? { goal, delegations: [work('long')] }
      : { agent_id: 'writer', task_description: goal },
  );
  await stage.rehearsal.waitForCalls(1);
  await run.signal('stop', { reason: 'enough' });
  expect(await run.result()).toMatchObject({ status: 'stopped', stop_reason: 'enough' });
  expect((await runCommand(stage, ['status', run.workflowId])).out).toMatch(
    /^stopped .*\nenough\n/m,
  );
  expect(stage.rehearsal.calls()[0]).toMatchObject({ outcome: 'client-closed' });
  await expectPromisesKept(stage, run.workflowId);
});

it.each([true, false])(
  'stop before the first call ends a delegation alone, with notes: %s',
  async (notes) => {
    const run = await stage.client.workflow.signalWithStart('delegation', {
      taskQueue: stage.taskQueue,
      workflowId: `early-${notes}`,
      args: [{ agent_id: 'writer', task_description: goal, notes }],
      signal: 'stop',
      signalArgs: [{ reason: 'enough' }],
    });
    expect(await run.result()).toMatchObject({ status: 'stopped', stop_reason: 'enough' });
    expect(stage.rehearsal.calls()).toEqual([]);
    await expectPromisesKept(stage, run.workflowId);
  },
);

it('an instruction during the last call of a delegation alone is refused at its end', async () => {
  const last = held({ pass: true });
  stage.rehearsal.script([{ match: { schema: 'delegation' }, reply: last.reply }]);
  const run = await stage.start('delegation', { agent_id: 'writer', task_description: goal });
  await stage.rehearsal.waitForCalls(1);
  await run.signal('amend', { instruction: 'Name the region.' });
  // The answer to a query follows the signal.
  await stage.status(run);
  last.release();
  expect(await run.result()).toMatchObject({ status: 'completed' });
  const reasons = (await rejectedMessages(stage, run, 1)).map(({ reason }) => reason);
  expect(reasons).toEqual([expect.stringContaining('no call has read "Name the region."')]);
  await expectPromisesKept(stage, run.workflowId);
});

it.each([
  ['triad', {}, 'execute'],
  ['triadPhase', { phase: 'deliberate' }, 'deliberate'],
] as const)(
  'an instruction during the last call of a %s alone is refused at its end, and one that a call has read is not',
  async (type, more, phase) => {
    const run = stage.client.workflow.getHandle(`told-${type}`);
    const told: string[] = [];
    const tells = async () => {
      const instruction = `Name region ${told.length + 1}.`;
      told.push(instruction);
      await run.signal('amend', { instruction });
      await untilTold(stage, run.workflowId);
      return { pass: true } as const;
    };
    stage.rehearsal.script([takes({ phase: 'negotiate', nth: 1 }, tells), takes({ phase }, tells)]);
    await stage.start(type, { type: 'dialectic', task: goal, ...more }, run.workflowId);
    await run.result();
    const reasons = (await rejectedMessages(stage, run, 1)).map(({ reason }) => reason);
    // In a triad, the phases after negotiate begin with the first one.
    const unread = `no call has read "${told.at(-1)}"`;
    expect(reasons).toEqual([expect.stringContaining(unread)]);
    await expectPromisesKept(stage, run.workflowId);
  },
);

it('stop ends a run that waits for an answer', async () => {
  stage.rehearsal.script([plans(1, plan([work('ask')])), works('ask', asking)]);
  const run = await stage.start('plannerRun', { goal });
  await openQuestion(stage, run);
  await run.signal('stop', { reason: 'nobody knows' });
  const result = await expectStopped(run);
  expect(result.criteria).toMatchObject([{ criterion_id: 'ask-done', state: 'open' }]);
  const text = readFileSync(join(stage.home, result.result_path), 'utf8');
  expect(text).toContain('Which region?');
  expect(text).toContain('nobody knows');
});

it('stop ends a paused run', async () => {
  const first = held({ json: completed('first-done') });
  stage.rehearsal.script([
    plans(1, plan([work('first'), work('next', { depends_on: ['first'] })])),
    works('first', first.reply),
  ]);
  const run = await stage.start('plannerRun', { goal });
  await callInFlight('first');
  await run.signal('pause', {});
  await eventually('the pause at the wave', async () => {
    const wave = stage.client.workflow.getHandle(`${run.workflowId}/wave-001`);
    const { events } = await wave.fetchHistory();
    return events?.some((event) => event.workflowExecutionSignaledEventAttributes);
  });
  first.release();
  await stage.rehearsal.waitForCalls(2, 'ended');
  await run.signal('stop', {});
  await expectStopped(run);
  expect(callsOf(stage.rehearsal, 'next')).toEqual([]);
});

it('stop before the first wave ends the run without a call', async () => {
  await stage.stopWorker();
  const run = await stage.start('plannerRun', { goal });
  await run.signal('stop', {});
  await stage.startWorker();
  const result = await expectStopped(run);
  expect(result).toMatchObject({ waves: 0, criteria: [] });
  expect(stage.rehearsal.counts().calls).toBe(0);
});

it('cancel before the first task is a cancelled run', async () => {
  await stage.stopWorker();
  const run = await stage.start('plannerRun', { goal });
  await run.cancel();
  await stage.startWorker();
  await expect(run.result()).rejects.toThrow('Workflow execution cancelled');
  expect(stage.rehearsal.counts().calls).toBe(0);
  await expectPromisesKept(stage, run.workflowId);
});

it('another start with the id of a run that has ended is refused, and leaves its record alone', async () => {
  stage.rehearsal.script([
    plans(1, plan([work('host')])),
    works('host', { json: completed('host-done') }),
    { match: { schema: 'decision' }, reply: { json: decision() } },
  ]);
  const run = await stage.start('plannerRun', { goal }, 'used-twice');
  await stage.result(run);
  const again = await stage.start('plannerRun', { goal: 'Another one' }, 'used-twice');
  const failure: unknown = await again.result().catch((error: unknown) => error);
  expect(failure).toMatchObject({
    cause: { message: expect.stringContaining('"used-twice" exists already in this store') },
  });
  expect(await storedRecord(stage.home, 'used-twice')).toMatchObject({ goal });
});

it('a delegation alone refuses an instruction while it asks what becomes of its changes', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'planwave-endings-'));
  const input = { path: 'page.md', content: 'The page.' };
  stage.rehearsal.script([
    {
      match: { schema: 'delegation', nth: 1 },
      reply: { tool_use: [{ name: 'write_file', input }] },
    },
    {
      match: { schema: 'delegation' },
      reply: { json: { ...completed('c1'), effects_claimed: ['page.md'] } },
    },
  ]);
  const task = { agent_id: 'engineer', task_description: goal, workspace_dir: dir };
  const run = await stage.start('delegation', task);
  await openQuestion(stage, run);
  await run.signal('amend', { instruction: 'Add a note.' });
  const [refused] = await rejectedMessages(stage, run, 1);
  expect(refused?.reason).toContain('its work has ended. Try: start a new one');
  await run.signal('answer', { question_id: 'q1', answer: 'keep' });
  expect(await run.result()).toMatchObject({ status: 'completed' });
  rmSync(dir, { recursive: true });
});
