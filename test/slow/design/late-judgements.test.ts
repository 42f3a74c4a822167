import type { WorkflowHandle } from '@temporalio/client';
import type { WaveView } from '../../../contracts/views.ts';
import { waveWorkflowId } from '../../../core/ids.ts';
import { untilAsked } from '../../support/design-play.ts';
import { eventually } from '../../support/eventually.ts';
import { planTask, samplePlan } from '../../support/plans.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { runCommand } from '../../support/run-command.ts';
import { blocked, callsOf, held, completed, question, works } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const proof = 'try-index_1727539200';
const docs = 'docs_1727539200';
/** Relies on the proof of concept. */
const schema = 'schema_1727539200';
const input = { goal: 'Users can sign up [escalated-proof]', plan: samplePlan() };

/** Waits for the question about the failed proof of concept, and gives the run up over it. */
async function giveUp(run: WorkflowHandle): Promise<void> {
  const { question_id, text } = await untilAsked(stage, run, 'plan_approval');
  expect(text).toMatch(/^The proof of concept try-index_1727539200 has the result "fail"/);
  expect(callsOf(stage.rehearsal, schema)).toEqual([]);
  await run.signal('answer', { question_id, answer: 'abandon' });
  expect(await stage.result(run)).toMatchObject({ status: 'abandoned' });
}

it('a fork of a run that was given up over a failed proof of concept asks about it before work relies on it', async () => {
  await giveUp(await stage.start('plannerRun', input, 'given-up'));
  const argv = ['fork', 'given-up', '--wave', '2', '--id', 'fork', '--yes'];
  const { code, err } = await runCommand(stage, argv);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  await giveUp(stage.client.workflow.getHandle('fork'));
  await expectPromisesKept(stage, 'fork');
});

it('a proof of concept whose wave was ended early by a flood of messages is judged in the next execution', async () => {
  const slow = held({ json: completed('docs-done') });
  stage.rehearsal.script([works(docs, slow.reply)]);
  const run = await stage.start(
    'plannerRun',
    { ...input, limits: { max_signals: 60 } },
    'flooded-proof',
  );
  const wave = stage.client.workflow.getHandle(waveWorkflowId('flooded-proof', 1));
  await eventually('the end of the proof of concept', async () => {
    const view = await wave.query<WaveView>('wave').catch(() => null);
    return view?.delegations.some(
      (one) => one.delegation_id === proof && one.state === 'completed',
    );
  });
  const current = stage.client.workflow.getHandle('flooded-proof');
  const before = (await run.describe()).runId;
  for (let nth = 0; nth < 60; nth += 1) await current.signal('amend', { instruction: nth });
  await eventually('the next execution', async () => (await current.describe()).runId !== before);
  slow.release();
  await giveUp(current);
  expect(callsOf(stage.rehearsal, proof).length).toBeGreaterThan(0);
});

it('what a task asked again and again in a wave that a flood ended early is analysed in the next execution', async () => {
  const rates = 'rates_1727539200';
  const slow = held({ json: completed('rates-done') });
  const texts = ['Which countries are shipped to?', 'To which countries is it shipped?'];
  stage.rehearsal.script([
    ...[...texts, 'Shipped: to which countries?'].map((text, at) =>
      works(rates, { json: blocked([question(text)], 'rates-done') }, at + 1),
    ),
    works(rates, slow.reply, 4),
  ]);
  const tasks = [planTask('rates'), planTask('page', { agent: 'api_agent' })];
  const plan = samplePlan({ tasks, risks: [] });
  const terms = { goal: 'Ship', plan, auto_approve: true, limits: { max_signals: 60 } };
  const run = await stage.start('plannerRun', terms, 'flooded-loop');
  for (const text of texts) {
    // oxlint-disable-next-line no-await-in-loop
    const { question_id } = await eventually('the question', async () =>
      (await stage.questions(run)).open.find((one) => one.text === text),
    );
    // oxlint-disable-next-line no-await-in-loop
    await run.signal('answer', { question_id, answer: text });
  }
  await eventually('the refusal', async () => callsOf(stage.rehearsal, rates).length === 4);
  const current = stage.client.workflow.getHandle('flooded-loop');
  const before = (await run.describe()).runId;
  for (let nth = 0; nth < 60; nth += 1) await current.signal('amend', { instruction: nth });
  await eventually('the next execution', async () => (await current.describe()).runId !== before);
  slow.release();
  await eventually('the analysis', async () =>
    stage.rehearsal.calls().some(({ body }) => JSON.stringify(body).includes('loop_analysis')),
  );
  await current.signal('stop', {});
  expect(await stage.result(current)).toMatchObject({ status: 'stopped' });
});
