import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inputExamples } from '../../../activities/run-record/describe-input-issues.ts';
import { readPlanFile } from '../../../client/cli/commands/plan-file.ts';
import { askForChange, untilAsked, untilEnded } from '../../support/design-play.ts';
import { eventually } from '../../support/eventually.ts';
import { createGitFixture } from '../../support/git-fixture.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { runCommand } from '../../support/run-command.ts';
import { held, newestText } from '../../support/scripted-work.ts';
import { readSeedFiles } from '../../support/seed-files.ts';
import { untilRecorded } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

it('takes a goal to an approved plan and its result', async () => {
  const goal = 'Compare three ways to store a backup';
  const research = held({ pass: true });
  stage.rehearsal.script([
    { match: { bodyIncludes: 'stage=\\"research\\"' }, times: 1, reply: research.reply },
  ]);
  const criteria = ['One way is recommended.'];
  const run = await stage.start('plannerRun', { goal, criteria, mode: 'designed' });
  await untilAsked(stage, run, 'design');
  const asked = untilAsked(stage, run, 'plan_approval');
  // Between two questions the stage at work is told, in whichever workflow it works.
  await eventually('the stage at work', async () => {
    const { out } = await runCommand(stage, ['status', run.workflowId]);
    return (
      out.includes('now research: Markdown') && /research \([-\w]+\) · thinks in turn 1/.test(out)
    );
  });
  research.release();
  const question = await asked;
  expect(question.choices).toEqual(['approve', 'change', 'abandon']);
  // The directory and the first status are there before anybody works.
  const file = (path: string) => readFileSync(join(stage.home, run.workflowId, path), 'utf8');
  await untilRecorded(stage.home, run.workflowId, question.question_id);
  expect(file('shared_status.json')).toContain('"status": "blocked"');
  expect(file('agents/result_agent/agent_instructions.md')).toContain('## Your task');
  await run.signal('answer', { question_id: question.question_id, answer: 'approve' });
  await untilEnded(stage, run);
  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed', waves: 2 });
  expect(result.criteria).toContainEqual({ criterion_id: 'goal-1', state: 'met', reason: '' });
  expect(file('workflow_coordination_plan.md')).toContain('```mermaid');
  const folder = join(stage.home, run.workflowId);
  expect(readSeedFiles(folder)).toMatchObject({
    faults: [],
    files: expect.arrayContaining([
      expect.stringMatching(/^agents\/facts_agent\/completion_drive\/session_\d{8}_\d{4}_/),
      expect.stringMatching(/^agents\/result_agent\/task_output\//),
    ]),
  });
  await expectPromisesKept(stage, run.workflowId);
});

it('those who interview, write the brief and are consulted may read the workspace', async () => {
  const { dir } = createGitFixture({ 'prices.txt': 'Prices are net, in cents.\n' });
  const read = { tool_use: [{ name: 'read_file', input: { path: 'prices.txt' } }] };
  const stages = ['interview', 'brief', 'consultation'];
  stage.rehearsal.script(
    stages.map((name) => ({
      match: { bodyIncludes: `stage=\\"${name}\\"` },
      times: 1,
      reply: read,
    })),
  );
  const goal = 'Compare three ways to store a backup';
  const run = await stage.start('plannerRun', { goal, mode: 'designed', workspace_dir: dir });
  const { question_id } = await untilAsked(stage, run, 'plan_approval');
  const bodies = stage.rehearsal.calls().map(({ body }) => JSON.stringify(body));
  const readers = stages.filter((name) =>
    bodies.some(
      (body) => body.includes(`stage=\\"${name}\\"`) && body.includes('Prices are net, in cents.'),
    ),
  );
  expect(readers).toEqual(stages);
  await run.signal('answer', { question_id, answer: 'abandon' });
  expect(await stage.result(run)).toMatchObject({ status: 'abandoned' });
  await expectPromisesKept(stage, run.workflowId);
});

it('makes the changes that the user asks for, shows each plan, and ends when the user abandons it', async () => {
  const goal = 'Compare three ways to store a backup';
  const run = await stage.start('plannerRun', { goal, mode: 'designed' });
  const shown: string[] = [];
  for (const wish of ['Ask a specialist. [new-agent]', 'Do without. [no-new-agent]']) {
    const question = await untilAsked(stage, run, 'plan_approval');
    shown.push(question.text);
    await askForChange(stage, run, question, wish);
  }
  const { question_id, text: last } = await untilAsked(stage, run, 'plan_approval');
  shown.push(last);
  const reviews = stage.rehearsal
    .calls()
    .map((call) => newestText(call))
    .filter((text) => text.includes('stage="design_review"'));
  const asked = reviews.map(
    (text) => /<requested_change>\n([^<]*)\n<\/requested_change>/.exec(text)?.[1],
  );
  const first = 'Ask a specialist. [new-agent]';
  expect(asked).toEqual([undefined, first, `${first}\nLater: Do without. [no-new-agent]`]);
  await run.signal('answer', { question_id, answer: 'abandon' });
  expect(await stage.result(run)).toMatchObject({ status: 'abandoned', waves: 0 });
  const changed = shown.map((text) => text.includes('Changed since you saw it: '));
  expect(changed).toEqual([false, true, true]);
  const drafted = shown.map((text) => text.includes('New agents: rehearsed-specialist (no tools)'));
  expect(drafted).toEqual([false, true, false]);
  await expectPromisesKept(stage, run.workflowId);
});

it('makes a design alone, and approves a plan without findings in the place of the user', async () => {
  const run = await stage.start('architectureDesign', {
    goal: 'Compare three ways to store a backup',
    auto_approve: true,
    use_defaults: true,
    autonomy: 'assume',
  });
  await untilEnded(stage, run);
  expect(await run.result()).toMatchObject({ status: 'approved', approved_by: null, findings: [] });
  // The criteria are those of the plan, which nothing has carried out.
  const folder = join(stage.home, run.workflowId);
  const result = readFileSync(join(folder, 'result.md'), 'utf8');
  expect(result).toContain('**Status:** Completed: the plan is the answer.');
  expect(result).not.toContain('**Not met:**');
  const page = join(folder, 'page.html');
  await runCommand(stage, ['report', run.workflowId, '--html', page]);
  expect(readFileSync(page, 'utf8')).toMatch(/Completed: the plan is the answer\.[^]*>not judged</);
  await expectPromisesKept(stage, run.workflowId);
});

it('assesses the risks of a typed plan, and puts proofs of concept before what they test', async () => {
  // The rehearsal model tests what its own first task relies on.
  const example = inputExamples.riskAssessment.replaceAll('list_ways', 'gather_facts');
  const input: object = { ...JSON.parse(example), technologies: ['PostgreSQL'] };
  const run = await stage.start('riskAssessment', input);
  expect(await run.result()).toMatchObject({
    status: 'assessed',
    plan: { tasks: 2, proofs_of_concept: 1 },
    materials: expect.arrayContaining([
      expect.objectContaining({ stage: 'research', subject: 'PostgreSQL' }),
    ]),
    answer: expect.stringContaining('Find one fact'),
  });
  const { out } = await runCommand(stage, ['plan', 'export', run.workflowId]);
  const { risks, tasks = [] } = readPlanFile(out).plan ?? {};
  expect(risks).toMatchObject([{ risk_id: 'no-sources' }]);
  const proof = tasks.find(({ proof_of_concept }) => proof_of_concept !== null);
  expect(tasks.find((one) => one !== proof)?.depends_on).toEqual([proof?.task_id]);
  await expectPromisesKept(stage, run.workflowId);
});

it('refuses a risk assessment without a plan, and names every fault', async () => {
  const run = await stage.start('riskAssessment', { technologies: 1 });
  const refused: unknown = await run.result().catch((error: unknown) => error);
  const cause = refused instanceof Error ? refused.cause : null;
  expect(cause).toMatchObject({ type: 'InvalidInput', message: expect.stringContaining('plan') });
  expect(cause).toMatchObject({ message: expect.stringContaining('technologies') });
});
