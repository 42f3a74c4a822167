import { WorkflowFailedError } from '@temporalio/client';
import type { WorkflowHandle } from '@temporalio/client';
import { delegationWorkflowId, waveWorkflowId } from '../../../core/ids.ts';
import { openQuestion, rejectedMessages, submit } from '../../support/asking.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { queryRaw, signalRaw, startRaw, updateRaw } from '../../support/raw-messages.ts';
import type { RawPayload } from '../../support/raw-messages.ts';
import {
  blocked,
  completed,
  plan,
  plans,
  question,
  work,
  works,
  ownWorkflows,
} from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const broken: RawPayload = { encoding: 'json/plain', data: '{"question_id":"q1",' };
const unknownEncoding: RawPayload = { encoding: 'text/yaml', data: 'question_id: q1' };
const noJson: RawPayload = { encoding: 'json/plain', data: 'eu-west' };

async function runThatWaits(): Promise<WorkflowHandle> {
  stage.rehearsal.script([
    plans(1, plan([work('host')])),
    works('host', { json: blocked([question('Which region?')], 'host-done') }, 1),
    works('host', { json: completed('host-done') }),
  ]);
  const run = await stage.start('plannerRun', { goal: 'Host the backup', limits: ownWorkflows });
  await openQuestion(stage, run);
  return run;
}

/** The run goes on as if nothing had been sent. */
async function expectUnhurt(run: WorkflowHandle): Promise<void> {
  await submit(run, { question_id: 'q1', answer: 'eu-west' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  await expectPromisesKept(stage, run.workflowId);
}

it('fault 43: broken answers and instructions from the command line are recorded with the reason', async () => {
  const run = await runThatWaits();
  const id = run.workflowId;
  const unreadable = expect.stringMatching(
    /^the payload (?:is no JSON|has the encoding "text\/yaml"): it begins with ".*"\. Expected one JSON object .*Try: quote it/,
  );
  for (const payload of [broken, unknownEncoding, noJson]) {
    await signalRaw(stage, id, 'answer', payload);
    await signalRaw(stage, id, 'amend', payload);
    await signalRaw(stage, id, 'escalate', payload);
    expect(await updateRaw(stage, id, payload)).toEqual(unreadable);
  }
  // Nothing at all, and more than one payload.
  for (const name of ['answer', 'amend', 'escalate']) await signalRaw(stage, id, name);
  await signalRaw(stage, id, 'answer', broken, broken);
  const rejected = await rejectedMessages(stage, run, 13);
  const reasons = rejected.map(({ reason }) => reason);
  expect(reasons.filter((reason) => reason.startsWith('Signal amend: '))).toHaveLength(4);
  expect(reasons.filter((reason) => reason.startsWith('Signal escalate: '))).toHaveLength(4);
  const answers = rejected.filter(({ reason }) => !reason.startsWith('Signal '));
  expect(answers).toHaveLength(5);
  for (const { example } of answers) {
    expect(example).toEqual({ question_id: 'q1', answer: 'your answer' });
  }
  expect((await stage.questions(run)).open).toHaveLength(1);
  await expectUnhurt(run);
});

it('fault 43: a query whose argument is broken is answered as if it had none', async () => {
  const run = await runThatWaits();
  for (const payload of [broken, unknownEncoding, noJson]) {
    for (const id of [run.workflowId, waveWorkflowId(run.workflowId, 1)]) {
      expect(await queryRaw(stage, id, 'status', payload)).not.toBe('');
    }
  }
  await expectUnhurt(run);
});

it('fault 43: an unknown signal name is recorded with the names that exist', async () => {
  const run = await runThatWaits();
  await signalRaw(stage, run.workflowId, 'anwser', {
    encoding: 'json/plain',
    data: '{"question_id":"q1","answer":"eu-west"}',
  });
  await signalRaw(stage, run.workflowId, 'anwser', broken);
  await signalRaw(stage, run.workflowId, 'finish');
  const rejected = await rejectedMessages(stage, run, 3);
  expect(rejected[0]?.reason).toBe(
    'There is no signal "anwser". Try: answer, amend, pause, resume, stop.',
  );
  expect(rejected[2]?.reason).toContain('"finish"');
  await expectUnhurt(run);
});

it('finding L1: a signal whose name is reserved for the SDK is recorded like every unknown one', async () => {
  const run = await runThatWaits();
  const names = [
    '__temporal_x',
    '__temporal_workflow_stream_publish',
    '__stack_trace',
    '__proto__',
  ];
  for (const name of names) await signalRaw(stage, run.workflowId, name);
  for (const child of [waveWorkflowId(run.workflowId, 1), `${run.workflowId}/wave-001/host`]) {
    await signalRaw(stage, child, '__temporal_x');
  }
  const rejected = await rejectedMessages(stage, run, names.length);
  expect(rejected.map(({ reason }) => reason)).toEqual(
    names.map((name) => `There is no signal "${name}". Try: answer, amend, pause, resume, stop.`),
  );
  await expect(run.executeUpdate('__temporal_x')).rejects.toThrow('Update failed');
  await expect(run.query('__temporal_x')).rejects.toThrow('__temporal_x');
  await expectUnhurt(run);
});

it('finding L1: signals with reserved names that come before the first workflow task hurt nobody', async () => {
  const inputs = [
    ['plannerRun', { goal: 'Host the backup' }],
    ['plannerWave', { goal: 'Host the backup' }],
    ['delegation', { agent_id: 'writer', task_description: 'A haiku on backups' }],
    ['triad', { type: 'consensus', task: 'Choose where a backup goes' }],
    ['team', { message: 'Choose where a backup goes', members: ['researcher', 'writer'] }],
  ] as const;
  await stage.stopWorker();
  const started = new Map<string, WorkflowHandle>();
  for (const [type, input] of inputs) {
    const run = await stage.start(type, input);
    started.set(type, run);
    await signalRaw(stage, run.workflowId, '__temporal_x');
    await signalRaw(stage, run.workflowId, 'stop');
  }
  await stage.startWorker();
  for (const [type, run] of started) {
    const result = await stage.result(run);
    expect({ type, status: result.status }).toEqual({ type, status: 'stopped' });
  }
  // Only now: an artifact that another run has just written is not named yet.
  for (const run of started.values()) await expectPromisesKept(stage, run.workflowId);
});

it('fault 43, finding L8: pause, resume and stop with an unreadable payload are refused and recorded', async () => {
  const run = await runThatWaits();
  await signalRaw(stage, run.workflowId, 'pause');
  for (const payload of [broken, unknownEncoding, noJson]) {
    for (const name of ['resume', 'stop']) await signalRaw(stage, run.workflowId, name, payload);
  }
  await run.signal('stop', 5);
  expect(await stage.status(run)).toMatchObject({ phase: 'paused', paused_reason: '' });
  await signalRaw(stage, run.workflowId, 'resume');
  await signalRaw(stage, run.workflowId, 'pause', broken);
  expect(await stage.status(run)).toMatchObject({ phase: 'waiting_for_user' });
  expect((await stage.questions(run)).rejected.map(({ reason }) => reason)).toEqual([
    ...Array.from({ length: 3 }, () => [
      expect.stringMatching(/^Signal resume: expected/),
      expect.stringMatching(/^Signal stop: expected/),
    ]).flat(),
    expect.stringMatching(/^Signal stop: expected/),
    expect.stringMatching(/^Signal pause: expected/),
  ]);
  await expectUnhurt(run);
});

it('fault 43: signals between workflows that a hand sends broken hurt none of them', async () => {
  const run = await runThatWaits();
  const wave = waveWorkflowId(run.workflowId, 1);
  const host = delegationWorkflowId(wave, 'host');
  for (const payload of [[broken], [unknownEncoding], [noJson], []]) {
    await signalRaw(stage, run.workflowId, 'progress', ...payload);
    await signalRaw(stage, run.workflowId, 'deliver', ...payload);
    for (const child of [wave, host]) {
      for (const name of ['deliver', 'pause', 'resume', 'escalate', 'answer', 'nonsense']) {
        await signalRaw(stage, child, name, ...payload);
      }
    }
  }
  expect(await run.query('plan')).toMatchObject({
    wave: 1,
    delegations: [{ delegation_id: 'host' }],
  });
  await expectUnhurt(run);
});

it.each(['plannerRun', 'plannerWave', 'delegation'])(
  'fault 43: a broken input of %s is refused as InvalidInput, with a good one beside it',
  async (type) => {
    for (const payload of [[broken], [unknownEncoding], []]) {
      const id = `broken-${type}-${crypto.randomUUID().slice(0, 8)}`;
      await startRaw(stage, type, id, ...payload);
      const failure: unknown = await stage.client.workflow
        .getHandle(id)
        .result()
        .catch((error: unknown) => error);
      if (!(failure instanceof WorkflowFailedError)) throw new Error('It did not fail.');
      expect(failure.cause).toMatchObject({
        type: 'InvalidInput',
        message: expect.stringMatching(/^The input of \w+ has \d faults?:\n- [^]*A good input: \{/),
      });
      await expectPromisesKept(stage, id);
    }
    expect(stage.rehearsal.counts().calls).toBe(0);
  },
);
