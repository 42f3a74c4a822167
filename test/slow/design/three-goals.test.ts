import { readPlanFile } from '../../../client/cli/commands/plan-file.ts';
import { checkCoordinationPlan } from '../../../core/design/check-plan-file.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import { createGitFixture, userGit } from '../../support/git-fixture.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { runCommand } from '../../support/run-command.ts';
import { listStages, stagesUntilApproval } from '../../support/scripted-design.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const repository = {
  'src/sum.js': 'export const sum = (a, b) => a - b;\n',
  'test/sum.test.js': "import { sum } from '../src/sum.js';\n",
};

/** Kinds of goals, each with its input. */
const goals: readonly [string, () => { readonly goal: string; readonly workspace_dir?: string }][] =
  [
    [
      'software on a repository',
      () => ({
        goal: 'Add a function that subtracts to the calculator, with tests',
        workspace_dir: createGitFixture(repository).dir,
      }),
    ],
    [
      'data analysis',
      () => ({ goal: 'Find out from three years of orders which customers stop buying, and why' }),
    ],
    ['research', () => ({ goal: 'What is known about heat pumps in houses built before 1950?' })],
  ];

it.each(goals)('%s: from the goal to an approved plan', async (_kind, inputOf) => {
  const input = inputOf();
  const run = await stage.start('plannerRun', { ...input, mode: 'designed' });
  const { question_id, kind, choices } = await openQuestion(stage, run);
  expect(kind).toBe('design');
  await submit(run, { question_id, answer: choices[0] });
  const asked = await eventually(
    'the approval',
    async () => (await stage.questions(run)).open.find((one) => one.kind === 'plan_approval'),
    5 * 60_000,
  );
  const { out } = await runCommand(stage, ['plan', 'export', run.workflowId]);
  const { plan } = readPlanFile(out);
  if (plan === null) throw new Error('The run has no plan.');
  expect(plan.goal).toBe(input.goal);
  // Only agents that are registered, and no finding of code.
  const agents = plan.agents.map(({ agent_id }) => ({
    agent_id,
    allowed_tools: [],
    risk_level: 'low' as const,
  }));
  expect(checkCoordinationPlan(plan, { agents })).toEqual([]);
  // Research on its technology may be there from the goal before.
  const wanted = stagesUntilApproval.filter((name) => name !== 'research');
  const asks = listStages(stage.rehearsal.calls()).map((name) => name.split(' ')[0]);
  expect(asks).toEqual(expect.arrayContaining(wanted));
  await submit(run, { question_id: asked.question_id, answer: 'approve' });
  await eventually('the first task', async () =>
    stage.rehearsal.calls().some(({ task }) => task !== null),
  );
  await run.signal('stop', {});
  await stage.result(run);
  const changed = input.workspace_dir && userGit(input.workspace_dir, 'status', '--porcelain');
  expect(changed ?? '').toBe('');
  // The stop comes at any moment of the first task, and an activity that it interrupts may have stored something.
  await expectPromisesKept(stage, run.workflowId, { orphans: true });
});
