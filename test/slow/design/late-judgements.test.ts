import type { WorkflowHandle } from '@temporalio/client';
import type { WaveView } from '../../../contracts/views.ts';
import { waveWorkflowId } from '../../../core/ids.ts';
import { untilAsked } from '../../support/design-play.ts';
import { eventually } from '../../support/eventually.ts';
import { samplePlan } from '../../support/plans.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { runCommand } from '../../support/run-command.ts';
import { callsOf, held, completed, works } from '../../support/scripted-work.ts';
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
}, 240_000);

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
}, 240_000);
