import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openQuestion, submit } from '../../support/asking.ts';
import { faultsOf } from '../../support/calls.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  blocked,
  completed,
  decision,
  held,
  plan,
  planCalls,
  plans,
  question,
  unmet,
  work,
  works,
} from '../../support/scripted-work.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { untilTold } from '../../support/until-idle.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

it('finding W4: what the user answers can waive a criterion in a plan and meet one in a decision', async () => {
  const check = work('check', { criteria: ['goal-2'] });
  const waiving = (question_id: string) => ({
    ...plan([check]),
    criteria_waived: [{ criterion_id: 'goal-1', question_id }],
  });
  stage.rehearsal.script([
    plans(1, plan([], [question('May the brochure be left out?')])),
    plans(2, waiving('q9')),
    plans(3, waiving('q1')),
    works('check', { json: blocked([question('What did the test print?')], 'goal-2') }, 1),
    works('check', { json: unmet('completed', 'Only the user can run it.', 'goal-2') }, 2),
    {
      match: { schema: 'decision' },
      reply: {
        json: {
          ...decision(),
          criteria_met_by_answer: [{ criterion_id: 'goal-2', question_id: 'q2' }],
        },
      },
    },
  ]);
  const run = await stage.start('plannerRun', {
    goal: 'Ship the tool',
    criteria: ['There is a brochure.', 'The test has passed.'],
  });
  await openQuestion(stage, run, 'q1');
  await submit(run, { question_id: 'q1', answer: 'Yes, forget it.' });
  await openQuestion(stage, run, 'q2');
  await submit(run, { question_id: 'q2', answer: '12 passed, 0 failed' });

  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed', waves: 1 });
  expect(result.criteria.map(({ state }) => state)).toEqual(['waived', 'met']);
  expect(faultsOf(planCalls(stage.rehearsal)[2])).toMatchObject([
    expect.stringContaining('there is no answered question "q9"'),
  ]);
  const { criteria } = await storedRecord(stage.home, run.workflowId);
  expect(criteria).toMatchObject([
    { criterion_id: 'goal-1', state: 'waived', question_id: 'q1' },
    { criterion_id: 'goal-2', state: 'met', question_id: 'q2' },
  ]);
  const text = readFileSync(join(stage.home, result.report_path), 'utf8');
  expect(text).toContain(
    [
      '### Met by your answer\n',
      '- `goal-2`: The test has passed.',
      '  Question q2: What did the test print?',
      '  Your answer: 12 passed, 0 failed\n',
      '### Waived by you\n',
      '- `goal-1`: There is a brochure.',
      '  Question q1: May the brochure be left out?',
      '  Your answer: Yes, forget it.',
    ].join('\n'),
  );
  await expectPromisesKept(stage, run.workflowId);
});

it('CA6: an answer that changes while the planner decides by it settles nothing', async () => {
  const decided = held({
    json: {
      ...decision('goal-2'),
      criteria_waived: [{ criterion_id: 'goal-1', question_id: 'q1' }],
    },
  });
  const both = ['goal-1', 'goal-2'];
  stage.rehearsal.script([
    plans(1, plan([], [question('May the brochure be left out?')])),
    plans(2, plan([work('check', { criteria: ['goal-2'] })])),
    plans(3, plan([work('both', { criteria: both })])),
    works('check', { json: unmet('completed', 'Not yet.', 'goal-2') }),
    works('both', { json: completed(...both) }),
    { match: { schema: 'decision', nth: 1 }, reply: decided.reply },
  ]);
  const run = await stage.start('plannerRun', {
    goal: 'Ship the tool',
    criteria: ['There is a brochure.', 'The test has passed.'],
  });
  await openQuestion(stage, run, 'q1');
  await submit(run, { question_id: 'q1', answer: 'Yes, forget it.' });
  await stage.rehearsal.waitForCalls(4);
  const answers = [{ question_id: 'q1', answer: 'No' }];
  await run.signal('amend', { instruction: 'Keep the brochure.', answers });
  await eventually('the changed answer', async () =>
    (await stage.questions(run)).answered.some(({ answer }) => answer === 'No'),
  );
  await untilTold(stage, run.workflowId);
  decided.release();
  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed', waves: 2 });
  expect(result.criteria.map(({ state }) => state)).toEqual(['met', 'met']);
  await expectPromisesKept(stage, run.workflowId);
});

it('finding W4: the waiver at the end of all waves names its question', async () => {
  stage.rehearsal.script([
    plans(1, plan([work('first', { criteria: ['goal-1'] })])),
    works('first', { json: unmet('completed', 'No time.', 'goal-1') }),
  ]);
  const run = await stage.start('plannerRun', {
    goal: 'Ship the tool',
    criteria: ['There is a brochure.'],
    limits: { max_waves: 1 },
  });
  await openQuestion(stage, run, 'q1');
  await submit(run, { question_id: 'q1', answer: 'waive' });
  const { report_path } = await stage.result(run);
  const text = readFileSync(join(stage.home, report_path), 'utf8');
  expect(text).toContain('### Waived by you\n\n- `goal-1`: There is a brochure.\n  Question q1: ');
  expect(text).toContain('\n  Your answer: waive');
});
