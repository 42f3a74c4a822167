import type { StatusView } from '../../../contracts/views.ts';
import { askForChange, untilAsked } from '../../support/design-play.ts';
import { samplePlan } from '../../support/plans.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { newestText } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const proof = 'try-index_1727539200';
const measured = {
  explanation: 'The API measures its listing itself.',
  operations: [
    {
      operation: 'append_instructions',
      task_id: 'api_1727539200',
      heading: 'Change',
      text: 'Measure the listing of all users.',
    },
  ],
};

/** Requests for a review of the plan, each as the text that the verifier reads. */
const readReviews = (): string[] =>
  stage.rehearsal.calls().flatMap((call) => {
    const text = newestText(call);
    return text.includes('stage="design_review"') ? text : [];
  });

/** Returns the results of earlier stages that a request shows: `adaptation of <task_id>: <explanation>`. */
function readMaterials(text: string | undefined): string[] {
  const [, block = '[]'] = /<materials>(.*)<\/materials>/s.exec(text ?? '') ?? [];
  const materials: readonly {
    readonly stage: string;
    readonly subject?: string;
    readonly result: { readonly explanation?: string; readonly decision?: string };
  }[] = JSON.parse(block);
  return materials.map(
    ({ stage: name, subject, result }) =>
      `${name} of ${subject}: ${result.explanation ?? result.decision ?? ''}`,
  );
}

it('the review of a changed plan is shown what led to the change, and the newest version of it', async () => {
  stage.rehearsal.script([
    { match: { bodyIncludes: 'stage=\\"adaptation', nth: 2 }, reply: { json: measured } },
  ]);
  const run = await stage.start('plannerRun', {
    goal: 'Users can sign up [escalated-proof]',
    plan: samplePlan(),
  });
  const failed = await untilAsked(stage, run, 'plan_approval');
  // What the judgement has used so far counts already.
  const { usage } = await run.query<StatusView>('status');
  expect(usage.calls + usage.unreported_calls).toBe(stage.rehearsal.calls().length);
  await askForChange(stage, run, failed, 'Take a further step');
  const changed = await untilAsked(stage, run, 'plan_approval');
  expect(changed.text).toContain('New tasks: Take a further step');
  const [first] = readReviews();
  const decision = `poc_decision of ${proof}: escalate`;
  expect(readMaterials(first)).toEqual([
    decision,
    `adaptation of ${proof}: Rehearsal: “Take a further step”`,
  ]);
  expect(first).toMatch(/<plan_tasks>.*"title":"Take a further step"/);
  expect(first).toContain(`<work>[{"task_id":"${proof}"`);

  await askForChange(stage, run, changed, 'Measure it in the API too');
  const { question_id } = await untilAsked(stage, run, 'plan_approval');
  const reviews = readReviews();
  expect(reviews).toHaveLength(2);
  const newest = readMaterials(reviews[1]);
  expect(newest).toEqual(
    expect.arrayContaining([decision, `adaptation of ${proof}: ${measured.explanation}`]),
  );
  expect(newest.filter((one) => one.startsWith('adaptation'))).toHaveLength(1);
  expect(reviews[1]).toMatch(/<plan_tasks>.*Measure the listing of all users\./);
  // The second change takes nothing back of the first.
  expect(reviews[1]).toContain('\nTake a further step\nLater: Measure it in the API too\n');
  await run.signal('answer', { question_id, answer: 'abandon' });
  expect(await stage.result(run)).toMatchObject({ status: 'abandoned' });
  await expectPromisesKept(stage, run.workflowId);
});

it('a repair of a change goes on from the changed plan, and is shown the change that it has', async () => {
  const finding = {
    path: 'tasks/3',
    message: 'The listing is never measured.',
    cure: 'Let the API measure it.',
  };
  stage.rehearsal.script([
    {
      match: { bodyIncludes: 'stage=\\"design_review', nth: 1 },
      reply: { json: { findings: [finding], remarks: [] } },
    },
    { match: { bodyIncludes: 'stage=\\"adaptation', nth: 2 }, reply: { json: measured } },
  ]);
  const run = await stage.start('plannerRun', {
    goal: 'Users can sign up [escalated-proof]',
    plan: samplePlan(),
  });
  await askForChange(
    stage,
    run,
    await untilAsked(stage, run, 'plan_approval'),
    'Take a further step',
  );
  const { question_id, text: question } = await untilAsked(stage, run, 'plan_approval');
  const repair = stage.rehearsal
    .calls()
    .map((call) => newestText(call))
    .findLast((one) => one.includes('stage="adaptation"'));
  expect(repair).toContain('The plan has your last change already');
  // What the user asked for binds the review and the repair too.
  const asked = '<requested_change>\nTake a further step\n</requested_change>';
  for (const text of [repair, ...readReviews()]) expect(text).toContain(asked);
  expect(readMaterials(repair)).toContain(
    `adaptation of ${proof}: Rehearsal: “Take a further step”`,
  );
  expect(repair).toMatch(/<plan_tasks>.*"title":"Take a further step"/);
  expect(question).toContain('New tasks: Take a further step');
  expect(question).not.toContain('finding left');
  await run.signal('answer', { question_id, answer: 'abandon' });
  expect(await stage.result(run)).toMatchObject({ status: 'abandoned' });
});
