import type { WorkflowHandle } from '@temporalio/client';
import { eventTypes } from '../../support/histories.ts';
import { listActivities } from '../../support/lose-attempts.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { listStages } from '../../support/scripted-design.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();
/** Its worker forgets each workflow after each task, and dies in each activity between its work and its report. */
const { stage: dying } = useStage({ maxCachedWorkflows: 0, losesAttempts: true });

/** A design with a finding that its designer mends. Research of an earlier run would save a call. */
const input = {
  goal: 'Compare three ways to store a backup [flawed]',
  use_defaults: true,
  auto_approve: true,
  research_max_age_days: 0,
};

it('fault 1: a worker that dies at every event of a complete design', async () => {
  const undisturbed = await stage.start('architectureDesign', input);
  const run = await dying.start('architectureDesign', input);
  expect(await endOf(run)).toEqual(await endOf(undisturbed));
  const stages = listStages(dying.rehearsal.calls()).toSorted();
  expect(stages).toEqual(listStages(stage.rehearsal.calls()).toSorted());

  const histories = await expectPromisesKept(dying, run.workflowId);
  const activities = listActivities(histories);
  expect(activities.filter(({ attempt }) => attempt < 2)).toEqual([]);
  expect(activities.filter(({ type }) => type === 'modelTurn')).toHaveLength(stages.length);
  expect(dying.cachedWorkflows()).toBe(0);
  const tasks = histories
    .flatMap(eventTypes)
    .filter((type) => type === 'EVENT_TYPE_WORKFLOW_TASK_COMPLETED');
  expect(tasks.length).toBeGreaterThan(20);
}, 900_000);

/** Result of a design without its addresses, which name times. */
async function endOf(run: WorkflowHandle) {
  const { status, plan, findings, usage } = await run.result();
  return { status, findings, tasks: plan.tasks, proofs: plan.proofs_of_concept, usage };
}
