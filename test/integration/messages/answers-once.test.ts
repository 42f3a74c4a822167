import {
  askWithoutWorker,
  openQuestion,
  openQuestions,
  refusalOf,
  rejectedMessages,
  submit,
} from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { eventTypes, type StoredHistory } from '../../support/histories.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  blocked,
  callsOf,
  completed,
  held,
  newestText,
  plan,
  plans,
  question,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';
import { provideWritingAgent } from '../../support/writing-agent.ts';

// A call that is released while its worker stops still ends on it.
const { stage } = useStage({ shutdownGraceMs: 60_000 });

const goal = 'Host the backup';

/** A run of one delegation that asks for a region. With the answer its reply waits for `release`. */
function scriptOneQuestion(): { readonly release: () => void } {
  const asked = question('Which region?', {
    expected_answer_format: 'choice',
    choices: ['eu-west', 'us-east'],
  });
  const { reply, release } = held({ json: completed('host-done') });
  stage.rehearsal.script([
    plans(1, plan([work('host')])),
    works('host', { json: blocked([asked], 'host-done') }, 1),
    works('host', reply),
  ]);
  return { release };
}

it('fault 38: the same answer twenty times at once, by signal and by update, is applied once', async () => {
  const { release } = scriptOneQuestion();
  const run = await stage.start('plannerRun', { goal });
  const { question_id } = await openQuestion(stage, run);
  const spellings = ['eu-west', 'EU-West', '1', ' eu-west '];
  const replies = await Promise.all(
    Array.from({ length: 20 }, async (_, i) => {
      const payload = { question_id, answer: spellings[i % spellings.length] };
      return i % 2 === 0 ? run.signal('answer', payload) : submit(run, payload);
    }),
  );
  const again = await submit(run, { question_id, answer: 'eu-west' });
  const repeat = { question_id, accepted: 'the same answer was taken before' };
  expect(again).toEqual(repeat);
  for (const reply of replies.filter((one) => one !== undefined)) {
    expect([repeat, { question_id, accepted: 'eu-west' }]).toContainEqual(reply);
  }
  release();

  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  // One call that asked, one with the answer: a second delivery would have made a third.
  const calls = callsOf(stage.rehearsal, 'host');
  expect(calls).toHaveLength(2);
  expect(newestText(calls[1]).match(/"answer":"eu-west"/g)).toHaveLength(1);
  const { answered, rejected } = await stage.questions(run);
  expect(answered).toMatchObject([{ question_id, answer: 'eu-west', answered_by: 'user' }]);
  expect(rejected).toEqual([]);
  const [root] = await expectPromisesKept(stage, run.workflowId);
  const received = root?.history.events?.flatMap((event) =>
    event.workflowExecutionSignaledEventAttributes?.signalName === 'answer' ? ['answer'] : [],
  );
  expect(received).toHaveLength(10);
});

it('fault 39: another answer to an answered question is refused and shows the first', async () => {
  const { release } = scriptOneQuestion();
  const run = await stage.start('plannerRun', { goal });
  const { question_id } = await openQuestion(stage, run);
  await submit(run, { question_id, answer: 'us-east', answered_by: 'Ada' });

  const { reason } = await refusalOf(run, { question_id, answer: 'eu-west' });
  expect(reason).toContain('q1 is answered already ("us-east" by Ada) and keeps its first answer');
  expect(reason).toContain('signal amend');
  await run.signal('answer', { question_id, answer: 'eu-west' });
  const [rejected] = await rejectedMessages(stage, run, 1);
  expect(rejected).toMatchObject({ question_id, reason });
  release();

  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  const calls = callsOf(stage.rehearsal, 'host');
  expect(calls).toHaveLength(2);
  expect(newestText(calls[1])).toContain('"answer":"us-east"');
  await expectPromisesKept(stage, run.workflowId);
});

it('fault 40: unknown, closed, early answers and those of another run are refused, the run unhurt', async () => {
  const early = held({ json: plan([work('host')]) });
  stage.rehearsal.script([
    { match: { schema: 'plan' }, times: 1, reply: early.reply },
    works('host', { json: blocked([question('Which region?')], 'host-done') }, 1),
    works('host', { json: completed('host-done') }),
  ]);
  const run = await stage.start('plannerRun', { goal });
  await stage.rehearsal.waitForCalls(1);

  // Too early: the planner still plans.
  const first = { question_id: 'q1', answer: 'eu-west' };
  const tooEarly = await refusalOf(run, first);
  expect(tooEarly).toEqual({
    reason: 'there is no question "q1" in this run. No question is open',
    example: null,
  });
  await run.signal('answer', first);
  expect(await rejectedMessages(stage, run, 1)).toMatchObject([
    { question_id: 'q1', reason: tooEarly.reason, example: null },
  ]);
  early.release();

  // Unknown, of another run, without an answer, and no object at all.
  await openQuestions(stage, run);
  const example = { question_id: 'q1', answer: 'your answer' };
  const bad = [
    { question_id: 'q7', answer: 'x' },
    { question_id: 'run-2/q1', answer: 'x' },
  ];
  for (const payload of bad) {
    const shown = JSON.stringify(payload.question_id);
    const refused = { reason: `there is no question ${shown} in this run. Open: "q1"`, example };
    expect(await refusalOf(run, payload)).toEqual(refused);
    await run.signal('answer', payload);
  }
  expect(await refusalOf(run, { question_id: 'q1' })).toEqual({
    reason: 'q1: the answer is missing',
    example,
  });
  await run.signal('answer', { question_id: 'q1' });
  for (const payload of [null, 'eu-west', ['q1', 'eu-west'], 7]) {
    const { reason } = await refusalOf(run, payload);
    expect(reason).toBe('expected one JSON object with question_id and answer');
    await run.signal('answer', payload);
  }
  await run.signal('answer');
  const rejected = await rejectedMessages(stage, run, 9);
  for (const one of rejected.slice(1)) expect(one.example).toEqual(example);
  expect((await stage.questions(run)).open).toHaveLength(1);

  await submit(run, first);
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  // Closed: the run is over. Temporal itself refuses, for there is nobody to say why.
  await expect(submit(run, first)).rejects.toThrow('already completed');
  await expect(run.signal('answer', first)).rejects.toThrow('already completed');
  const [root] = await expectPromisesKept(stage, run.workflowId);
  if (root === undefined) throw new Error('The run has no history.');
  expect(
    eventTypes(root).filter((type) => type.endsWith('EXECUTION_SIGNALED')).length,
  ).toBeGreaterThan(9);
});

it.each(['signal', 'update'])(
  'an answer by %s that comes with the result that asks its question waits for it',
  async (way) => {
    const run = await askWithoutWorker(stage);
    const payload = { question_id: 'q1', answer: 'eu-west' };
    const unasked = { question_id: 'q2', answer: 'eu-west' };
    await run.signal('answer', unasked);
    const updateId = 'the-answer';
    const sent =
      way === 'signal'
        ? run.signal('answer', payload)
        : run.executeUpdate('submitAnswer', { args: [payload], updateId });
    if (way === 'signal') await sent;
    else await untilAtServer(run.workflowId, updateId);
    await stage.startWorker();
    await sent;
    const { answered, rejected } = await stage.questions(run);
    expect(answered).toMatchObject([payload]);
    expect(rejected).toMatchObject([
      { question_id: 'q2', reason: 'there is no question "q2" in this run. Open: "q1"' },
    ]);
    expect(await run.result()).toMatchObject({ status: 'completed' });
    const [root] = await expectPromisesKept(stage, run.workflowId, { refusedTasks: true });
    expect(root && sinceReply(root)).toEqual([
      'ACTIVITY_TASK_COMPLETED',
      'WORKFLOW_EXECUTION_SIGNALED',
      ...(way === 'signal' ? ['WORKFLOW_EXECUTION_SIGNALED'] : []),
      'WORKFLOW_TASK_COMPLETED',
      ...(way === 'signal' ? [] : ['WORKFLOW_EXECUTION_UPDATE_ACCEPTED']),
    ]);
  },
);

/** Waits until an update is at the server, though no worker may have it yet. */
async function untilAtServer(workflowId: string, updateId: string): Promise<void> {
  const updateRef = { workflowExecution: { workflowId }, updateId };
  await eventually(`the update ${updateId}`, () =>
    stage.client.workflowService
      .pollWorkflowExecutionUpdate({ namespace: 'default', updateRef })
      .then(
        () => true,
        () => false,
      ),
  );
}

/** Returns the events from the reply that asks, up to the task that took it and the update that this task accepted. */
function sinceReply(stored: StoredHistory): string[] {
  const types = eventTypes(stored)
    .map((type) => type.replace('EVENT_TYPE_', ''))
    .filter((type) => /_(TASK_COMPLETED|SIGNALED|UPDATE_ACCEPTED)$/.test(type));
  const signaled = types.indexOf('WORKFLOW_EXECUTION_SIGNALED');
  const begin = types.lastIndexOf('ACTIVITY_TASK_COMPLETED', signaled);
  const taken = types.indexOf('WORKFLOW_TASK_COMPLETED', signaled);
  const isAccepted = types[taken + 1] === 'WORKFLOW_EXECUTION_UPDATE_ACCEPTED';
  return types.slice(begin, taken + (isAccepted ? 2 : 1));
}

describe('where PLANWAVE_APPROVERS names people', () => {
  const { stage: guarded } = useStage({ settings: { approvers: ['Ana'] } });

  it('JA9: the query names them, only they decide, and their decision is not amended', async () => {
    const writes = { name: 'write_file', input: { path: 'a.md', content: 'the same' } };
    guarded.rehearsal.script([
      { times: 2, reply: { tool_use: [writes] } },
      { reply: { json: completed('c1') } },
    ]);
    const run = await guarded.start('delegation', {
      agent_id: 'risky',
      task_description: 'Write a file.',
      agents_dir: provideWritingAgent(guarded.home, 'risky', 'high'),
    });
    const approve = { question_id: 'q1', answer: 'approve' };
    expect(await openQuestion(guarded, run)).toMatchObject({ approvers: ['Ana'] });
    const page = JSON.stringify(await run.query('__temporal_workflow_metadata'));
    expect(page).toContain(' q1 --as Ana ');
    expect((await refusalOf(run, approve)).reason).toContain('only "Ana" may decide this');
    await submit(run, { ...approve, answered_by: 'Ana' });
    await openQuestion(guarded, run, 'q2');
    await run.signal('amend', { answers: [{ question_id: 'q1', answer: 'deny' }] });
    expect(await rejectedMessages(guarded, run, 1)).toMatchObject([
      { reason: expect.stringContaining('q1 is a decision that lets the run act or spend') },
    ]);
    const { answered } = await guarded.questions(run);
    expect(answered).toMatchObject([{ answer: 'approve', answered_by: 'Ana (self-stated)' }]);
    await submit(run, { question_id: 'q2', answer: 'deny', as_default: true });
    expect(await run.result()).toMatchObject({ status: 'completed' });
    await expectPromisesKept(guarded, run.workflowId);
  });
});
