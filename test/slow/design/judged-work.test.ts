import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { readPlanFile } from '../../../client/cli/commands/plan-file.ts';
import type { CoordinationPlan } from '../../../contracts/coordination-plan.ts';
import { faultsOf } from '../../support/calls.ts';
import { untilAsked, untilEnded } from '../../support/design-play.ts';
import { eventually } from '../../support/eventually.ts';
import { planTask, samplePlan, withTask } from '../../support/plans.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { runCommand } from '../../support/run-command.ts';
import {
  blocked,
  callsOf,
  completed,
  newestText,
  question,
  unmet,
  works,
} from '../../support/scripted-work.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

/**
 * Answers questions by their text's beginning, any other by its default or first choice, until the run has ended.
 *
 * @param look Is given each question while it waits.
 */
async function answerAll(
  run: WorkflowHandle,
  answers: Readonly<Record<string, string>>,
  look: (text: string) => Promise<void> = async () => {},
): Promise<readonly string[]> {
  const asked: string[] = [];
  await eventually(
    'the end of the run',
    async () => {
      const { open } = await stage.questions(run);
      for (const { question_id, text, default_answer, choices } of open) {
        if (!asked.includes(text)) asked.push(text);
        const known = Object.entries(answers).find(([begin]) => text.startsWith(begin))?.[1];
        await look(text);
        const answer = known ?? default_answer ?? choices[0] ?? 'As you see fit.';
        await run.signal('answer', { question_id, answer });
      }
      const { status } = await run.describe();
      return status.name !== 'RUNNING';
    },
    5 * 60_000,
  );
  return asked;
}

const stagesOf = (): readonly string[] =>
  stage.rehearsal
    .calls()
    .map(({ body }) => /stage=\\"([a-z_]+)/.exec(JSON.stringify(body))?.[1] ?? '');

const agentsAtWork = (): readonly string[] =>
  stage.rehearsal.calls().flatMap(({ task }) => task?.agent_id ?? []);

describe('one designed run', () => {
  let run: WorkflowHandle;
  let worksBefore: readonly string[];
  let worksAfter: readonly string[];
  let stages: readonly string[];
  beforeAll(async () => {
    const goal = 'Compare three ways to store a backup [new-agent]';
    run = await stage.start('plannerRun', { goal, mode: 'designed' });
    const { question_id } = await untilAsked(stage, run, 'plan_approval');
    worksBefore = agentsAtWork();
    await run.signal('answer', { question_id, answer: 'approve' });
    await untilEnded(stage, run);
    worksAfter = agentsAtWork();
    stages = stagesOf();
  }, 600_000);

  it('goes on after a proof of concept that shows what it was to show, and makes no decision', async () => {
    expect(await stage.result(run)).toMatchObject({ status: 'completed' });
    expect(stages).toContain('poc_evidence');
    expect(stages).not.toContain('poc_decision');
    await expectPromisesKept(stage, run.workflowId);
  });

  it('gives work to an agent that the design drafted, once the plan is approved', async () => {
    const drafted = 'rehearsed-specialist';
    expect(worksBefore).not.toContain(drafted);
    expect(worksAfter).toContain(drafted);
    const { out } = await runCommand(stage, ['plan', 'export', run.workflowId]);
    expect(readPlanFile(out).plan?.new_agents).toMatchObject([{ agent_id: drafted }]);
  });
});

it('adapts the plan after a proof of concept that failed, keeps both versions, and goes on', async () => {
  const run = await stage.start('plannerRun', {
    goal: 'Compare three ways to store a backup [failed-proof]',
    mode: 'designed',
    auto_approve: true,
  });
  await answerAll(run, {});
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  const file = (path: string) => readFileSync(join(stage.home, run.workflowId, path), 'utf8');
  expect(file('workflow_coordination_plan.md')).toContain('Rehearsal: take another way.');
  expect(file('report.md')).toContain('find_one_fact');
  expect(file('report.md')).toMatch(
    /Beside this file:\n\n- `workflow_coordination_plan\.md`: .*\n- `agents\/<agent>\/agent_instructions\.md`/,
  );
  expect(file('report.md')).toMatch(/proof of concept `find_one_fact_\d+`: fail, so adapt\./);
  expect(file('report.md')).toMatch(
    /## Did the design pay off\?\n\n- Signs for it: 1 of \d+ proofs? of concept did not pass/,
  );
  const versions = /plan diff (\S+) (\S+)`/.exec(file('report.md')) ?? [];
  const { out } = await runCommand(stage, ['plan', 'diff', ...versions.slice(1)]);
  expect(out).toContain('Rehearsal: take another way.');
  await expectPromisesKept(stage, run.workflowId);
});

it('asks the user when no change of the plan helps, and shows a change that costs more before it holds', async () => {
  const run = await stage.start('plannerRun', {
    goal: 'Compare three ways to store a backup [escalated-proof]',
    mode: 'designed',
  });
  let differences = '';
  const answers = {
    'The proof of concept': 'change',
    'What is to change': 'Take a further step',
    'The plan is to change': 'approve',
  };
  const asked = await answerAll(run, answers, async (text) => {
    const [, before, after] = /What differs: .* plan diff (\S+) (\w{64})$/.exec(text) ?? [];
    if (before === undefined || after === undefined) return;
    differences = (await runCommand(stage, ['plan', 'diff', before, after])).out;
  });
  expect(asked.filter((text) => text.startsWith('The proof of concept'))).toHaveLength(1);
  expect(asked.find((text) => text.startsWith('The plan is to change'))).toContain(
    'New tasks: Take a further step',
  );
  expect(differences).toMatch(/added tasks\/rehearsed_step_\d+/);
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  await expectPromisesKept(stage, run.workflowId);
});

it('ends the run when the user gives it up over a failed proof of concept', async () => {
  const run = await stage.start('plannerRun', {
    goal: 'Compare three ways to store a backup [escalated-proof]',
    mode: 'designed',
    auto_approve: true,
  });
  await answerAll(run, { 'The proof of concept': 'abandon' });
  expect(await stage.result(run)).toMatchObject({ status: 'abandoned' });
  await expectPromisesKept(stage, run.workflowId);
});

it('a proof of concept that a change removed, and one that it changed, are not judged by their old results', async () => {
  const index = 'try-index_1727539200';
  const [cache, batch] = ['try-cache_1727539200', 'try-batch_1727539200'] as const;
  const plan = withTask(3, () => ({ depends_on: [cache, batch] }));
  const [risk] = plan.risks;
  if (risk === undefined) throw new Error('the plan has a risk');
  const risks = ['cache', 'batch'].map((risk_id) => ({ ...risk, risk_id }));
  const criteria = { success_criteria: ['200 ms.'], failure_criteria: ['More than 1 s.'] };
  const proofs = risks.map(({ risk_id }) =>
    planTask(`try-${risk_id}`, { proof_of_concept: { ...criteria, risk_id } }),
  );
  const validation = {
    verified_by: 'reviewer_agent',
    evidence: [{ evidence_id: 'try-index-done', description: 'The file names 2 indexes.' }],
  };
  const change = { heading: 'Change', text: 'Take smaller batches.' };
  const adapted = {
    explanation: 'No cache any more, and smaller batches.',
    operations: [
      { operation: 'remove_task', task_id: cache },
      { operation: 'change_validation', task_id: index, validation },
      { operation: 'append_instructions', task_id: batch, ...change },
    ],
  };
  const adapt = { decision: 'adapt', rationale: 'Too slow.', requirements: ['Drop the cache.'] };
  stage.rehearsal.script([
    ...['try-index', 'try-cache', 'try-batch'].map((name) =>
      works(`${name}_1727539200`, {
        json: unmet('failed', 'Too slow.', `${name}-done`),
      }),
    ),
    { match: { bodyIncludes: 'stage=\\"poc_decision' }, reply: { json: adapt } },
    { match: { bodyIncludes: 'stage=\\"adaptation', nth: 1 }, reply: { json: adapted } },
  ]);
  const run = await stage.start('plannerRun', {
    goal: 'Users can sign up',
    plan: {
      ...plan,
      risks: [risk, ...risks],
      tasks: [...plan.tasks.slice(0, 1), ...proofs, ...plan.tasks.slice(1)],
    },
    auto_approve: true,
  });
  await answerAll(run, { 'The plan is to change': 'approve' });
  await stage.result(run);
  expect(stagesOf().filter((one) => one === 'poc_decision')).toHaveLength(1);
  const { design, criteria: found } = await storedRecord(stage.home, run.workflowId);
  expect(design?.adaptations).toMatchObject([
    { cause: { task_id: index, decision: 'adapt' }, reworded_evidence: ['try-index-done'] },
    { cause: { task_id: index, assessment: 'pass' } },
    { cause: { task_id: batch, assessment: 'pass' } },
  ]);
  expect(found).toContainEqual(
    expect.objectContaining({
      criterion_id: 'try-index-done',
      description: 'The file names 2 indexes.',
      state: 'met',
    }),
  );
  await expectPromisesKept(stage, run.workflowId);
});

/** A plan as a person types it: one task, and another that waits for it. */
const typed: CoordinationPlan = {
  ...samplePlan(),
  tasks: [planTask('rates'), planTask('page', { depends_on: ['rates_1727539200'] })],
  agents: samplePlan().agents.filter(({ agent_name }) => agent_name !== 'api_agent'),
  risks: [],
  new_agents: [],
};

const awaited = { question: 1, verdict: 'awaits', answer: null, reason: 'The page has them.' };
const circular = {
  root_cause: 'circular_dependency',
  explanation: 'The rates wait for the page.',
  requirements: ['The rates name the sizes themselves.'],
  user_questions: [],
};

it('a task that asks the same a third time, or waits in a cycle, is analysed, and the plan is adapted', async () => {
  const [task_id = '', page = ''] = typed.tasks.map((task) => task.task_id);
  const texts = [
    'Which countries are shipped to?',
    'To which countries is it shipped?',
    'Shipped: to which countries?',
  ];
  stage.rehearsal.script([
    ...texts.map((text, at) =>
      works(task_id, { json: blocked([question(text)], 'rates-done') }, at + 1),
    ),
    works(task_id, { json: blocked([question('Which sizes has the page?')], 'rates-done') }, 4),
    {
      match: { schema: 'review', bodyIncludes: 'Which sizes has the page?' },
      reply: { json: { reviews: [{ ...awaited, source_refs: [page] }] } },
    },
    // Both notes are undecided, so it can't complete.
    works(task_id, { json: completed('rates-done') }, 5),
    works(task_id, { json: unmet('failed', 'No list of countries.', 'rates-done') }, 6),
    {
      match: { bodyIncludes: 'stage=\\"loop_analysis', nth: 2 },
      reply: { json: circular },
    },
  ]);
  const run = await stage.start('plannerRun', { goal: 'Ship', plan: typed, auto_approve: true });
  const asked = await answerAll(run, { 'Which countries': 'Some', 'To which': 'Some of them' });
  expect(asked.filter((text) => text.includes('countries'))).toHaveLength(2);
  const faults = callsOf(stage.rehearsal, task_id).map((call) => faultsOf(call).length);
  expect(faults).toEqual([0, 0, 0, 0, 0, 2]);
  const analyses = stage.rehearsal
    .calls()
    .filter(({ body }) => JSON.stringify(body).includes('stage=\\"loop_analysis'));
  expect(analyses.map((call) => faultsOf(call).length)).toEqual([0, 1]);
  const [analysis] = analyses;
  for (const text of [...texts, 'Some of them', 'Which sizes has the page?']) {
    expect(newestText(analysis)).toContain(text);
  }
  const report = readFileSync(join(stage.home, run.workflowId, 'report.md'), 'utf8');
  expect(report).toContain(
    `\`${task_id}\` waits for a result in a cycle: ${task_id}→${page}→${task_id}.`,
  );
  const { status, criteria } = await stage.result(run);
  // The first attempt at one has failed, which is no reason any more.
  expect({ status, reasons: criteria.map(({ reason }) => reason) }).toEqual({
    status: 'completed',
    reasons: ['', ''],
  });
  await expectPromisesKept(stage, run.workflowId);
});

it('a question that is refused is reviewed by no planner, not even when a later attempt at the task asks it', async () => {
  const [{ task_id } = planTask('rates')] = typed.tasks;
  const again = task_id.replace('rates', 'rates-2');
  const asks = { json: blocked([question('Which countries are shipped to?')], 'rates-done') };
  stage.rehearsal.script([
    ...[1, 2, 3].map((nth) => works(task_id, asks, nth)),
    works(task_id, { json: completed('rates-done') }, 4),
    works(task_id, { json: unmet('failed', 'No list of countries.', 'rates-done') }, 5),
    works(again, asks, 1),
  ]);
  const run = await stage.start('plannerRun', { goal: 'Ship', plan: typed, auto_approve: true });
  await answerAll(run, { 'Which countries': 'Some' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  expect(newestText(callsOf(stage.rehearsal, again)[1])).toContain('asked 3 times before');
  const reviews = stage.rehearsal.calls().filter(({ shape }) => shape === 'review');
  expect(reviews).toHaveLength(2);
  await expectPromisesKept(stage, run.workflowId);
});
