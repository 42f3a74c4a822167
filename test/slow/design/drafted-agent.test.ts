import { readPlanFile } from '../../../client/cli/commands/plan-file.ts';
import { untilAsked, untilEnded } from '../../support/design-play.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { runCommand } from '../../support/run-command.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

it('gives work to an agent that the design drafted, once the plan is approved', async () => {
  const goal = 'Compare three databases. [new-agent]';
  const run = await stage.start('plannerRun', { goal, mode: 'designed' });
  const { question_id } = await untilAsked(stage, run, 'plan_approval');
  const worksAs = (agentId: string): boolean =>
    stage.rehearsal.calls().some(({ task }) => task?.agent_id === agentId);
  expect(worksAs('rehearsed-specialist')).toBe(false);
  await run.signal('answer', { question_id, answer: 'approve' });
  await untilEnded(stage, run);
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  expect(worksAs('rehearsed-specialist')).toBe(true);
  const { out } = await runCommand(stage, ['plan', 'export', run.workflowId]);
  expect(readPlanFile(out).plan?.new_agents).toMatchObject([{ agent_id: 'rehearsed-specialist' }]);
  await expectPromisesKept(stage, run.workflowId);
});
