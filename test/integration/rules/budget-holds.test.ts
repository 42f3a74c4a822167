import type { PlannerRunInput } from '../../../contracts/planner-run.ts';
import type { BudgetView } from '../../../contracts/views.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  callsOf,
  completed,
  ownWorkflows,
  plan,
  plans,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

/** Until the workflow is gone. */
const stalls = { stall: 'in-stream', afterEvents: 4, text: 'so far' } as const;

async function spentBy(runId: string): Promise<string> {
  const run = stage.client.workflow.getHandle(runId);
  return (await run.query<BudgetView>('budget')).spent;
}

it('finding T2: a wave that is terminated has spent what it was lent, and the next one asks', async () => {
  stage.rehearsal.script([plans(1, plan([work('long')])), works('long', stalls)]);
  const input: PlannerRunInput = { goal: 'Host the backup', budget: { calls: 3 } };
  const run = await stage.start('plannerRun', input, 'lost');
  await eventually('the call of the wave', async () => callsOf(stage.rehearsal, 'long').length > 0);
  await stage.client.workflow.getHandle('lost/wave-001').terminate('by a test');
  const lost = await openQuestion(stage, run);
  expect(lost.why_it_matters).toContain('Its whole budget counts as spent: 3 of 3 calls');
  await submit(run, { question_id: 'q1', answer: 'retry' });
  expect(await openQuestion(stage, run, 'q2')).toMatchObject({ kind: 'budget' });
  expect(stage.rehearsal.calls()).toHaveLength(2);
  await submit(run, { question_id: 'q2', answer: 'finish' });
  const result = await stage.result(run);
  expect(result.usage).toMatchObject({ calls: 1, unreported_calls: 2 });
  expect(await spentBy('lost')).toBe(
    '3 of 3 calls (2 calls of it may have been billed without a report)',
  );
  await expectPromisesKept(stage, 'lost', { lostUsage: true, orphans: true });
}, 60_000);

it('finding T2: a delegation that is terminated has spent its reservation', async () => {
  stage.rehearsal.script([
    plans(1, plan([work('lost'), work('free')])),
    works('lost', stalls),
    works('free', { json: completed('free-done') }),
    plans(2, plan([work('again', { criteria: ['lost-done'] })])),
    works('again', { json: completed('lost-done') }),
  ]);
  const input: PlannerRunInput = {
    goal: 'Host the backup',
    budget: { calls: 100 },
    limits: ownWorkflows,
  };
  const run = await stage.start('plannerRun', input, 'partly');
  await eventually('the call', async () => callsOf(stage.rehearsal, 'lost').length > 0);
  await stage.client.workflow.getHandle('partly/wave-001/lost').terminate('by a test');
  const { status, usage } = await stage.result(run);
  expect(status).toBe('completed');
  // Its call was made; how much more it had spent is known to nobody.
  expect(usage.calls + 1).toBe(stage.rehearsal.calls().length);
  expect(usage.unreported_calls).toBeGreaterThanOrEqual(1);
  expect(await spentBy('partly')).toContain(`${usage.calls + usage.unreported_calls} of 100 calls`);
  await expectPromisesKept(stage, 'partly', { lostUsage: true, orphans: true });
}, 60_000);
