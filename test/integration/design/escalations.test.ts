import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import type { CoordinationPlan } from '../../../contracts/coordination-plan.ts';
import { waveWorkflowId } from '../../../core/ids.ts';
import { eventually } from '../../support/eventually.ts';
import { planTask, samplePlan } from '../../support/plans.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { blocked, callsOf, ownWorkflows, question, works } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const rates = planTask('rates').task_id;

/** A plan as a person types it: two tasks that do not need each other. */
const typed: CoordinationPlan = {
  ...samplePlan(),
  tasks: [planTask('rates'), planTask('page', { agent: 'api_agent' })],
  risks: [],
  new_agents: [],
};

interface Status {
  readonly agents: Readonly<Record<string, { readonly status: string }>>;
}

const readStatus = (runId: string): Status =>
  JSON.parse(readFileSync(join(stage.home, runId, 'shared_status.json'), 'utf8'));

const openQuestion = (run: WorkflowHandle, begin: string) =>
  eventually('the question', async () =>
    (await stage.questions(run)).open.find(({ text }) => text.startsWith(begin)),
  );

it('a task that crashes three times has failed, buys and asks nothing twice, and is asked about when its sibling has ended', async () => {
  const stalls = { pass: true, delayMs: 600_000 } as const;
  stage.rehearsal.script([
    works(rates, { json: blocked([question('Which countries?')], 'rates-done') }, 1),
    ...[2, 3, 4].map((nth) => works(rates, stalls, nth)),
  ]);
  const run = await stage.start('plannerRun', {
    goal: 'Ship',
    plan: typed,
    auto_approve: true,
    limits: ownWorkflows,
  });
  const { question_id } = await openQuestion(run, 'Which countries');
  await run.signal('answer', { question_id, answer: 'All of Europe' });
  const id = `${waveWorkflowId(run.workflowId, 1)}/${rates}`;
  for (const attempt of [1, 2, 3]) {
    // The first call is the question, which no later attempt asks again.
    // oxlint-disable-next-line no-await-in-loop
    await eventually(
      `the stalled call of attempt ${attempt}`,
      async () => callsOf(stage.rehearsal, rates).length === attempt + 1 || undefined,
      60_000,
    );
    // oxlint-disable-next-line no-await-in-loop
    await stage.client.workflow.getHandle(id).terminate('as if its machine had burnt down');
  }
  const crashed = await openQuestion(run, 'A task of the plan has failed');
  expect(crashed.text).toContain('it crashed 3 times');
  expect((await stage.questions(run)).answered).toHaveLength(1);
  // The files are written once the question is there.
  await eventually('the status of the agents', async () => {
    const { agents } = readStatus(run.workflowId);
    const { database_agent, api_agent } = agents;
    return (database_agent?.status === 'failed' && api_agent?.status === 'verified') || undefined;
  });
  await run.signal('answer', { question_id: crashed.question_id, answer: 'retry' });
  const { usage, ...result } = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed', waves: 2 });
  expect(usage.calls + usage.unreported_calls).toBe(stage.rehearsal.calls().length);
  expect(callsOf(stage.rehearsal, 'rates-2_1727539200').length).toBeGreaterThan(0);
  expect(stage.rehearsal.calls().filter(({ shape }) => shape === 'plan')).toEqual([]);
  await expectPromisesKept(stage, run.workflowId, { orphans: true, lostUsage: true });
}, 180_000);
