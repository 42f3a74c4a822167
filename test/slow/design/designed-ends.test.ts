import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PlanTask } from '../../../contracts/coordination-plan.ts';
import type { ScriptedToolCall } from '../../../rehearsal/script.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { bodyOf } from '../../support/calls.ts';
import { untilEnded } from '../../support/design-play.ts';
import { createGitFixture } from '../../support/git-fixture.ts';
import { planTask, samplePlan } from '../../support/plans.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { runCommand } from '../../support/run-command.ts';
import { callsOf, completed, question, works } from '../../support/scripted-work.ts';
import { listStages } from '../../support/scripted-design.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const goal = 'Compare three ways to store a backup';

const summary = {
  task_name: 'backup',
  accomplish: 'A comparison.',
  decisions: [],
  constraints: [],
  questions_resolved: [],
  open_items: [],
  integration_points: [],
};

it('an interview with two rounds of questions counts two, and reads the answers of both', async () => {
  const rounds = [[question('Who reads it?')], [question('How much data is it?')], []];
  stage.rehearsal.script(
    rounds.map((user_questions) => ({ times: 1, reply: { json: { ...summary, user_questions } } })),
  );
  const run = await stage.start('architectureDesign', { goal, stage: 'interview' });
  // The second is asked after the first was answered.
  expect(await openQuestion(stage, run, 'q1')).toMatchObject({ text: 'Who reads it?' });
  await submit(run, { question_id: 'q1', answer: 'The office.' });
  expect(await openQuestion(stage, run, 'q2')).toMatchObject({ text: 'How much data is it?' });
  await submit(run, { question_id: 'q2', answer: 'Two terabytes.' });
  expect(await run.result()).toMatchObject({ status: 'interviewed' });
  const calls = stage.rehearsal.calls();
  expect(listStages(calls)).toEqual(['interview', 'interview', 'interview']);
  const last = JSON.stringify(bodyOf(calls.at(-1)).messages);
  expect(last).toContain('The office.');
  expect(last).toContain('Two terabytes.');
  const { answered_questions } = await storedRecord(stage.home, run.workflowId);
  expect(answered_questions.map(({ text }) => text)).toEqual([
    'Who reads it?',
    'How much data is it?',
  ]);
});

/** Two proofs of concept of one risk, and what depends on both. */
function planWithTwoProofs() {
  const [risk] = samplePlan().risks;
  if (risk === undefined) throw new Error('The sample plan has no risk.');
  const proof = (name: string): PlanTask =>
    planTask(name, {
      proof_of_concept: {
        risk_id: risk.risk_id,
        success_criteria: [`${name}.md names a time below 1 hour.`],
        failure_criteria: [`${name}.md names a longer time.`],
      },
    });
  const proofs = [proof('write_speed'), proof('read_speed')];
  const depends_on = proofs.map(({ task_id }) => task_id);
  const agents = samplePlan().agents.filter(({ agent_name }) => agent_name !== 'api_agent');
  const tasks = [...proofs, planTask('choice', { depends_on })];
  return { plan: { ...samplePlan(), agents, tasks, risks: [risk] }, depends_on };
}

it.each([
  ['both pass', '', 'pass'],
  ['both fail', ' [failed-proof]', 'fail'],
])(
  'a risk with two proofs of concept has both judged before what depends on it: %s',
  async (_name, mark, assessment) => {
    const { plan, depends_on } = planWithTwoProofs();
    const run = await stage.start('plannerRun', { goal: `${goal}${mark}`, plan });
    await untilEnded(stage, run);
    expect(await stage.result(run)).toMatchObject({ status: 'completed' });
    const { design, waves } = await storedRecord(stage.home, run.workflowId);
    const judged = (design?.adaptations ?? []).flatMap(({ wave, cause }) =>
      cause.type === 'proof_of_concept'
        ? [{ wave, task_id: cause.task_id, as: cause.assessment }]
        : [],
    );
    expect(judged.map(({ task_id }) => task_id).toSorted()).toEqual(depends_on.toSorted());
    expect(judged.map(({ as }) => as)).toEqual([assessment, assessment]);
    const began = waves.findIndex(({ outcomes }) =>
      outcomes.some(({ delegation_id }) => delegation_id.startsWith('choice')),
    );
    expect(began + 1).toBeGreaterThan(Math.max(...judged.map(({ wave }) => wave)));
    await expectPromisesKept(stage, run.workflowId);
  },
);

it('the output file of a designed run is in the folder of the user after `planwave apply`, and not before', async () => {
  const before = 'export const sum = (a, b) => a - b;\n';
  const { dir } = createGitFixture({ 'sum.js': before });
  const edit: ScriptedToolCall = {
    name: 'edit_file',
    input: { path: 'sum.js', old_string: 'a - b', new_string: 'a + b' },
  };
  const mend = planTask('mend', { outputs: [{ path: 'sum.js', format: 'JavaScript' }] });
  stage.rehearsal.script([
    works(mend.task_id, { tool_use: [edit] }, 1),
    works(mend.task_id, { json: { ...completed('mend-done'), effects_claimed: ['sum.js'] } }, 2),
  ]);
  const agents = samplePlan().agents.filter(({ agent_name }) => agent_name !== 'api_agent');
  const plan = { ...samplePlan(), agents, tasks: [mend], risks: [] };
  const run = await stage.start('plannerRun', {
    goal: 'Mend it',
    plan,
    workspace_dir: dir,
    changes: 'keep',
  });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  expect(callsOf(stage.rehearsal, mend.task_id).length).toBeGreaterThan(1);
  const text = (): string => readFileSync(join(dir, 'sum.js'), 'utf8');
  expect(text()).toBe(before);
  const applied = await runCommand(stage, ['apply', run.workflowId]);
  expect({ code: applied.code, err: applied.err }).toMatchObject({ code: 0 });
  expect(text()).toBe(before.replace('a - b', 'a + b'));
});
