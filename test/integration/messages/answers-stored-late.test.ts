import { readFileSync } from 'node:fs';
import type { WorkflowHandle } from '@temporalio/client';
import { askFromElsewhere } from '../../support/as-child.ts';
import { openQuestions, rejectedMessages, submit } from '../../support/asking.ts';
import { scriptedCalls } from '../../support/calls.ts';
import { eventually } from '../../support/eventually.ts';
import { planTask, samplePlan } from '../../support/plans.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  completed,
  decision,
  held,
  plan,
  plans,
  question,
  unmet,
  work,
  works,
} from '../../support/scripted-work.ts';
import { refuseText, stallFile } from '../../support/stalled-file.ts';
import { indexFile, storedRecord, storedText } from '../../support/stored-record.ts';
import { isIdle, untilDecided, untilSignaled } from '../../support/until-idle.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage({
  serverArguments: ['--dynamic-config-value', 'limit.historyCount.suggestContinueAsNew=30'],
});

const goal = 'Host the backup';

/** Returns an answer that is too long for history: it has to be stored before anybody gets it. The store has no other run's. */
const longAnswerTo = ({ workflowId }: Pick<WorkflowHandle, 'workflowId'>): string =>
  `The backup of ${workflowId} belongs in Frankfurt. `.repeat(100);

function pendingActivities(run: WorkflowHandle): Promise<string[]> {
  return run
    .describe()
    .then(({ raw }) =>
      (raw.pendingActivities ?? []).map(({ activityType }) => activityType?.name ?? ''),
    );
}

function untilPending(run: WorkflowHandle, activity: string): Promise<unknown> {
  return eventually(`${activity} at work`, async () =>
    (await pendingActivities(run)).includes(activity),
  );
}

/** A question that nobody in the run waits for. */
async function askByHand(run: WorkflowHandle): Promise<void> {
  await askFromElsewhere(stage, run, question('Where?'));
  await openQuestions(stage, run, 1);
}

/** Acts while the run writes its record for the last time. @returns to be called when what was sent has arrived. */
async function holdLastWrite(
  run: WorkflowHandle,
  letGo: () => void,
): Promise<() => Promise<unknown>> {
  // At two looks: what the wave told beside its call may still be on its way at the first.
  let before = 0;
  await eventually('nothing but the decision at work', async () => {
    const described = await run.describe();
    const isSame = described.historyLength === before;
    before = described.historyLength;
    return isSame && isIdle(described) && (described.raw.pendingChildren ?? []).length === 1;
  });
  const index = indexFile(stage.home, run.workflowId);
  const entry = readFileSync(index, 'utf8');
  const recordWrite = stallFile(index);
  letGo();
  await untilPending(run, 'updateRecord');
  return async () => {
    await recordWrite.release(entry);
    await eventually(
      'the record',
      async () => !(await pendingActivities(run)).includes('updateRecord'),
    );
  };
}

/** Answers during the last write, on a disk that at first has no room for the answer. */
async function answerInLastWrite(run: WorkflowHandle, letGo: () => void): Promise<void> {
  const releaseWrite = await holdLastWrite(run, letGo);
  const releaseAnswer = await refuseText(longAnswerTo(run));
  const taken = await submit(run, { question_id: 'q1', answer: longAnswerTo(run) });
  expect(taken).toMatchObject({
    question_id: 'q1',
    accepted: expect.stringContaining('Frankfurt'),
  });
  await untilPending(run, 'storeText');
  // Closed and answered are seen together, or a follower says that it was withdrawn.
  const { open, answered } = await stage.questions(run);
  expect([open, answered.map(({ question_id }) => question_id)]).toEqual([[], ['q1']]);
  await releaseWrite();
  releaseAnswer();
}

async function expectKept(run: WorkflowHandle): Promise<void> {
  const { answered } = await stage.questions(run);
  expect(answered.map(({ question_id }) => question_id)).toEqual(['q1']);
  const { answered_questions: kept } = await storedRecord(stage.home, run.workflowId);
  expect(kept.map(({ question_id }) => question_id)).toEqual(['q1']);
  expect(await storedText(stage.home, kept[0]?.answer_ref ?? '')).toBe(longAnswerTo(run));
}

it('fault 41: a long answer that comes in the last write of a run is in its record', async () => {
  const end = held({ json: decision() });
  stage.rehearsal.script([
    plans(1, plan([work('host')])),
    works('host', { json: completed('host-done') }),
    { match: { schema: 'decision' }, reply: end.reply },
  ]);
  const run = await stage.start('plannerRun', { goal });
  await askByHand(run);
  await stage.rehearsal.waitForCalls(3);
  await answerInLastWrite(run, end.release);
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  await expectKept(run);
  await expectPromisesKept(stage, run.workflowId);
});

/** Two waves; the decision of the first is held. */
function scriptTwoWaves(): () => void {
  const end = held({ json: decision('host-done') });
  stage.rehearsal.script([
    plans(1, plan([work('host')])),
    works('host', { json: unmet('failed', 'No room.', 'host-done') }),
    { match: { schema: 'decision', nth: 1 }, reply: end.reply },
    plans(2, plan([work('again', { criteria: ['host-done'] })])),
    works('again', { json: completed('host-done') }),
  ]);
  return end.release;
}

it('fault 41: a long answer that comes in the last write before continue-as-new is in the record', async () => {
  const letGo = scriptTwoWaves();
  const run = await stage.start('plannerRun', { goal });
  await askByHand(run);
  await stage.rehearsal.waitForCalls(3);
  await answerInLastWrite(run, letGo);
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 2 });
  await expectKept(run);
  const histories = await expectPromisesKept(stage, run.workflowId);
  const runs = histories.filter(({ workflowId }) => workflowId === run.workflowId);
  expect(runs.length).toBeGreaterThan(1);
});

it('fault 41: a changed answer that comes in the last write before continue-as-new is applied', async () => {
  const letGo = scriptTwoWaves();
  const run = await stage.start('plannerRun', { goal });
  await askByHand(run);
  await submit(run, { question_id: 'q1', answer: 'eu-west' });
  await stage.rehearsal.waitForCalls(3);
  const releaseWrite = await holdLastWrite(run, letGo);
  const answers = [{ question_id: 'q1', answer: 'us-east' }];
  await run.signal('amend', { instruction: 'Move it.', answers });
  await untilSignaled(stage, run.workflowId, 'amend');
  await untilDecided(stage, run.workflowId);
  await releaseWrite();
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 2 });
  const { answered_questions: kept, instructions } = await storedRecord(stage.home, run.workflowId);
  expect(kept).toMatchObject([{ question_id: 'q1', answer: 'us-east' }]);
  expect(instructions).toEqual(['Move it.']);
  await expectPromisesKept(stage, run.workflowId);
});

/** Resolves when the store has no room for the last write. */
function untilHeld(run: WorkflowHandle): Promise<unknown> {
  return eventually('the last write, without room', async () => {
    const { raw } = await run.describe();
    return raw.pendingActivities?.some(
      ({ activityType, attempt }) => activityType?.name === 'updateRecord' && Number(attempt) > 1,
    );
  });
}

it('an instruction that comes in the last write of a run is refused, with what to do', async () => {
  const release = await refuseText('# Result: Host the late one');
  stage.rehearsal.script([
    plans(1, plan([work('host')])),
    works('host', { json: completed('host-done') }),
  ]);
  const run = await stage.start('plannerRun', { goal: 'Host the late one' });
  await untilHeld(run);
  await run.signal('amend', { instruction: 'Only the EU.' });
  const [rejected] = await rejectedMessages(stage, run, 1);
  expect(rejected?.reason).toContain(`fork ${run.workflowId} --wave 2, with --amend`);
  release();
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 1 });
  expect((await storedRecord(stage.home, run.workflowId)).instructions).toEqual([]);
  await expectPromisesKept(stage, run.workflowId);
});

it('an instruction that comes while a run by a plan writes its last wave is planned for', async () => {
  const end = held({ pass: true });
  stage.rehearsal.script([{ match: { schema: 'decision', nth: 1 }, reply: end.reply }]);
  const { agents } = samplePlan();
  const only = agents.filter(({ agent_name }) => agent_name !== 'api_agent');
  const onePlan = samplePlan({ agents: only, tasks: [planTask('docs')], risks: [] });
  const run = await stage.start('plannerRun', { goal, plan: onePlan });
  await eventually('the decision', async () => scriptedCalls(stage).length === 1);
  const releaseWrite = await holdLastWrite(run, end.release);
  await eventually(
    'the end of the wave',
    async () => (await stage.status(run)).wave_workflow_id === null,
  );
  await run.signal('amend', { instruction: 'Only the EU.' });
  await untilSignaled(stage, run.workflowId, 'amend');
  await untilDecided(stage, run.workflowId);
  await releaseWrite();
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 2 });
  await expectPromisesKept(stage, run.workflowId);
});

it('a run that is paused during its last write ends with its result', async () => {
  stage.rehearsal.script([
    plans(1, plan([work('host')])),
    works('host', { json: completed('host-done') }),
  ]);
  // A text that the store does not have yet.
  const release = await refuseText('# Result: Host the paused one');
  const run = await stage.start('plannerRun', { goal: 'Host the paused one' });
  await untilHeld(run);
  await run.signal('pause');
  expect(await stage.status(run)).toMatchObject({ paused_reason: expect.any(String) });
  release();
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  const { status, phase } = await storedRecord(stage.home, run.workflowId);
  expect([status, phase]).toEqual(['completed', 'completed']);
  await expectPromisesKept(stage, run.workflowId);
});
