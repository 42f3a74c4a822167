import { WorkflowFailedError } from '@temporalio/client';
import type { WorkflowHandle } from '@temporalio/client';
import { delegationWorkflowId, waveWorkflowId } from '../../../core/ids.ts';
import { openQuestion, rejectedMessages, submit } from '../../support/asking.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { signalRaw, startRaw, updateRaw } from '../../support/raw-messages.ts';
import type { RawPayload } from '../../support/raw-messages.ts';
import {
  blocked,
  completed,
  plan,
  plans,
  question,
  work,
  works,
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
  const run = await stage.start('plannerRun', { goal: 'Host the backup' });
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
  const missing = 'q1: the answer is missing';
  for (const payload of [broken, unknownEncoding, noJson]) {
    await signalRaw(stage, id, 'answer', payload);
    await signalRaw(stage, id, 'amend', payload);
    await signalRaw(stage, id, 'escalate', payload);
    expect(await updateRaw(stage, id, payload)).toBe(missing);
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
}, 60_000);

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
}, 60_000);

it('fault 43: pause and resume are taken whatever comes with them', async () => {
  const run = await runThatWaits();
  for (const payload of [[broken], [unknownEncoding], [noJson], []]) {
    await signalRaw(stage, run.workflowId, 'pause', ...payload);
    expect(await stage.status(run)).toMatchObject({ phase: 'paused', paused_reason: '' });
    await signalRaw(stage, run.workflowId, 'resume', ...payload);
    expect(await stage.status(run)).toMatchObject({ phase: 'waiting_for_user' });
  }
  expect((await stage.questions(run)).rejected).toEqual([]);
  await expectUnhurt(run);
}, 60_000);

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
}, 60_000);

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
  60_000,
);
