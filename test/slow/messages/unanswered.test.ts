import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import type { Question } from '../../../contracts/question.ts';
import type { PoolView } from '../../../contracts/views.ts';
import { askFromElsewhere } from '../../support/as-child.ts';
import { openQuestion, refusalOf, rejectedMessages, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { listTimers } from '../../support/histories.ts';
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
  unmet,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage({
  serverArguments: ['--dynamic-config-value=limit.historyCount.suggestContinueAsNew=20'],
});

const goal = 'Host the backup';

function askedLater(run: WorkflowHandle, isSo: (question: Question) => boolean): Promise<Question> {
  return eventually('a question that was urged', async () =>
    (await stage.questions(run)).open.find(isSo),
  );
}

it('fault 44: a default is taken at its deadline and the late answer is refused with why; a question without one stays open, with reminders and another person', async () => {
  stage.rehearsal.script([
    plans(1, plan([work('host')])),
    works(
      'host',
      {
        json: blocked(
          [question('Which region?', { default_answer: 'eu-west' }), question('Who pays?')],
          'host-done',
        ),
      },
      1,
    ),
    works('host', { json: completed('host-done') }),
  ]);
  const run = await stage.start('plannerRun', {
    goal,
    questions: {
      deadline_seconds: 2,
      remind_seconds: 1,
      escalate_to: { person: 'Maria', after_seconds: 1 },
    },
  });
  const taken = await eventually(
    'the default',
    async () => (await stage.questions(run)).answered[0],
  );
  expect(taken).toMatchObject({ question_id: 'q1', answer: 'eu-west', answered_by: 'default' });
  const { reason } = await refusalOf(run, { question_id: 'q1', answer: 'us-east' });
  expect(reason).toContain('q1 is answered already (the default was taken: "eu-west")');
  await run.signal('answer', { question_id: 'q1', answer: 'us-east' });
  expect(await rejectedMessages(stage, run, 1)).toMatchObject([{ question_id: 'q1', reason }]);

  const urged = await askedLater(run, (one) => one.reminded > 0 && one.escalated_at !== null);
  expect(urged).toMatchObject({ question_id: 'q2', default_answer: null, deadline_seconds: null });
  const [wait] = (await stage.status(run)).waiting_for;
  expect(wait).toMatch(
    /^waiting for your answer to q2, now also for Maria, reminded .+: Who pays\?$/,
  );
  await submit(run, { question_id: 'q2', answer: 'The client', answered_by: 'Maria' });

  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  const text = newestText(callsOf(stage.rehearsal, 'host')[1]);
  expect(text).toContain('"answer":"eu-west"');
  expect(text).toContain('"answer":"The client"');
  const histories = await expectPromisesKept(stage, run.workflowId);
  const names = listTimers(histories).map(({ summary }) => summary);
  const command = `npm run planwave -- answer ${run.workflowId}`;
  expect(names).toContain(
    `waiting for your answer to q1 (default: eu-west in 2 s) · ${command} q1`,
  );
  expect(names).toContain(`q2 is also for Maria after 1 s: Who pays? · ${command} q2`);
  expect(names).toContain(`waiting for your answer to q2: Who pays? · ${command} q2`);
});

it('part of fault 38: continue-as-new puts no deadline off and repeats no hand-over', async () => {
  const first = held({ json: unmet('completed', 'It is only a step.', 'goal-1') });
  const second = held({ json: plan([work('last', { criteria: ['goal-1'] })]) });
  stage.rehearsal.script([
    plans(1, plan([work('first', { criteria: ['goal-1'] })])),
    { match: { schema: 'plan', nth: 2 }, reply: second.reply },
    works('first', first.reply),
    works('last', { json: completed('goal-1') }),
  ]);
  const run = await stage.start('plannerRun', {
    goal,
    criteria: ['The backup was restored once.'],
    questions: {
      deadline_seconds: 600,
      remind_seconds: 300,
      escalate_to: { person: 'Maria', after_seconds: 1 },
    },
  });
  const firstRunId = (await run.describe()).runId;
  await stage.rehearsal.waitForCalls(1);
  // From nobody in this run: it stays open from wave to wave.
  await askFromElsewhere(stage, run, question('Who pays?', { default_answer: 'nobody' }));
  await askedLater(run, ({ escalated_at }) => escalated_at !== null);
  first.release();
  await eventually('the second wave', async () =>
    (await stage.status(run)).wave_workflow_id?.endsWith('002'),
  );
  expect((await run.describe()).runId).not.toBe(firstRunId);
  const { asked_at } = await openQuestion(stage, run);
  await submit(run, { answer: 'The client' });
  second.release();
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });

  const histories = await expectPromisesKept(stage, run.workflowId);
  const timers = listTimers(histories);
  const [deadlines, reminders, handOvers] = [
    // A summary that also names Maria has no room for the whole default.
    /default: nob/,
    /^reminder 1/,
    /also for Maria after/,
  ].map((name) => timers.filter(({ summary }) => name.test(summary)));
  // One for each run of the workflow, with one end.
  expect(deadlines?.length).toBeGreaterThan(1);
  for (const { ends_at } of deadlines ?? [])
    expect(Math.abs(ends_at - asked_at - 600)).toBeLessThan(3);
  expect(reminders).toHaveLength(deadlines?.length ?? 0);
  for (const { ends_at } of reminders ?? [])
    expect(Math.abs(ends_at - asked_at - 300)).toBeLessThan(3);
  expect(handOvers).toHaveLength(1);
});

it('with autonomy "assume" only what is critical is asked; the rest is assumed, recorded and listed', async () => {
  const asks = [
    question('Which region?', { default_answer: 'eu-west', priority: 'high' }),
    question('How many copies?', { expected_answer_format: 'number', priority: 'low' }),
    question('Who pays?', { priority: 'critical' }),
  ];
  stage.rehearsal.script([
    plans(1, plan([work('host')])),
    works('host', { json: blocked(asks, 'host-done') }, 1),
    works('host', { json: completed('host-done') }),
  ]);
  const run = await stage.start('plannerRun', { goal, autonomy: 'assume' });
  const { question_id, text } = await openQuestion(stage, run, 'q3');
  expect(text).toBe('Who pays?');
  const { open, answered } = await stage.questions(run);
  expect(open).toHaveLength(1);
  expect(answered).toMatchObject([
    { question_id: 'q1', answer: 'eu-west', answered_by: 'assumption' },
    { question_id: 'q2', answered_by: 'assumption' },
  ]);
  await submit(run, { question_id, answer: 'The client' });
  const { report_path } = await stage.result(run);

  const told = newestText(callsOf(stage.rehearsal, 'host')[1]);
  expect(told).toContain('q1, q2: nobody has decided this.');
  const { facts } = await run.query<PoolView>('pool');
  expect(facts.map(({ is_assumption }) => is_assumption)).toEqual([true, true, false]);
  const result = readFileSync(join(stage.home, report_path), 'utf8');
  expect(result).toMatch(/## Assumptions that stand\n\n- Which region\? Answer: eu-west/);
  await expectPromisesKept(stage, run.workflowId);
});
