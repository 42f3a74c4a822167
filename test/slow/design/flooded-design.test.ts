import { openQuestion } from '../../support/asking.ts';
import { stagesOf, untilAsked, untilEnded } from '../../support/design-play.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

it('finding T4: a design that is flooded goes on after its finished stages, with its question open', async () => {
  const input = { goal: 'Compare three ways to store a backup', limits: { max_signals: 60 } };
  const run = await stage.start('plannerRun', { ...input, mode: 'designed' }, 'flooded-design');
  const current = stage.client.workflow.getHandle('flooded-design');
  const executionOf = async (): Promise<string> => (await current.describe()).runId;
  const flood = async (): Promise<void> => {
    const before = await executionOf();
    for (let nth = 0; nth < 60; nth += 1) await current.signal('amend', { instruction: nth });
    await eventually('the next execution', async () => (await executionOf()) !== before);
  };
  // In the interview: it asks the same again.
  const interview = await openQuestion(stage, run);
  expect(interview.kind).toBe('design');
  await flood();
  await eventually(
    'the interview to ask again',
    async () => stagesOf(stage.rehearsal.calls()).filter((one) => one === 'interview').length === 2,
  );
  expect(await stage.questions(current)).toMatchObject({
    open: [{ question_id: interview.question_id }],
  });
  // After the risk assessment: what is finished is not bought again.
  await untilAsked(stage, current, 'plan_approval');
  const before = stagesOf(stage.rehearsal.calls());
  await flood();
  await untilAsked(stage, current, 'plan_approval');
  expect(stagesOf(stage.rehearsal.calls())).toEqual(before);
  await untilEnded(stage, current);
  expect(await stage.result(current)).toMatchObject({ status: 'completed' });
  await expectPromisesKept(stage, 'flooded-design', { orphans: true });
});
