import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { untilAsked } from '../../support/design-play.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { runCommand } from '../../support/run-command.ts';
import { held, unmet } from '../../support/scripted-work.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

/** A plan as a person types it: a proof of concept, what depends on it, and what does not. */
const typed = `task_name: backup-choice
goal: A recommendation for where a small office keeps its backups.
summary: A measurement first, then a recommendation that rests on it.
max_parallel: 1
agents:
  - agent_name: fact_agent
    role: doer
    responsibility: Finds out what each way costs and risks.
    agent_id: researcher
  - agent_name: writing_agent
    role: doer
    responsibility: Writes the recommendation.
    agent_id: writer
  - agent_name: review_agent
    role: verifier
    responsibility: Checks every result against its evidence.
    agent_id: reviewer
tasks:
  - task_id: advice_1727539201
    title: Recommend one way
    agent: writing_agent
    instructions: Recommend one way on one page.
    depends_on: [measure_1727539200, costs_1727539202]
    outputs:
      - path: agents/writing_agent/task_output/advice.md
        format: Markdown
    validation:
      verified_by: review_agent
      evidence:
        - evidence_id: two-facts
          description: The advice names 2 facts.
  - task_id: measure_1727539200
    title: Measure how fast a tenth is restored
    agent: fact_agent
    instructions: Restore 200 GB and write down the time.
    outputs:
      - path: agents/fact_agent/task_output/times.md
        format: Markdown
    validation:
      verified_by: review_agent
      evidence:
        - evidence_id: one-time
          description: The file names 1 time in hours.
    proof_of_concept:
      risk_id: slow-restore
      success_criteria: [2 TB are restored in less than 24 hours.]
      failure_criteria: [The restore takes longer, or a file is missing.]
  - task_id: costs_1727539202
    title: List the costs
    agent: fact_agent
    instructions: List the costs of three ways.
    outputs:
      - path: agents/fact_agent/task_output/costs.md
        format: Markdown, one table
    validation:
      verified_by: review_agent
      evidence:
        - evidence_id: three-ways
          description: The table has 3 rows.
risks:
  - risk_id: slow-restore
    assumption: The line is fast enough to restore everything in a day.
    likelihood: medium
    impact: high
    mitigation: Restore a tenth and measure the time.
escalation:
  - Ask the user.
`;

function save(text: string): string {
  const path = join(stage.home, 'plan.yaml');
  writeFileSync(path, text);
  return path;
}

it('takes the plan of a file to its result: the proof of concept first, and no wave is planned', async () => {
  const { code, out } = await runCommand(stage, ['plan', 'run', save(typed), '--id', 'from-file']);
  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('from-file') });
  const run = stage.client.workflow.getHandle('from-file');
  expect(await stage.result(run)).toMatchObject({
    status: 'completed',
    waves: 2,
    criteria: ['two-facts', 'one-time', 'three-ways'].map((criterion_id) => ({
      criterion_id,
      state: 'met',
    })),
  });
  const calls = stage.rehearsal.calls();
  const decidedAt = calls.findIndex(({ shape }) => shape === 'decision');
  const tasksOf = (some: typeof calls): string[] => [
    ...new Set(some.flatMap(({ task }) => task?.delegation_id ?? [])),
  ];
  const first = ['costs_1727539202', 'measure_1727539200'];
  expect(tasksOf(calls.slice(0, decidedAt)).toSorted()).toEqual(first);
  expect(tasksOf(calls.slice(decidedAt))).toEqual(['advice_1727539201']);
  // Only the judgement of the proof of concept has a shape that the server does not tell apart.
  const judged = calls.filter(({ shape }) => shape === null);
  expect(judged).toHaveLength(1);
  expect(JSON.stringify(judged[0]?.body)).toContain('stage=\\"poc_evidence');
  expect(new Set(calls.flatMap(({ shape }) => shape ?? []))).toEqual(
    new Set(['delegation', 'verification', 'decision']),
  );
  expect(stage.rehearsal.counts().maxInFlight).toBe(1);
  const report = await runCommand(stage, ['report', 'from-file']);
  expect(report).toMatchObject({ code: 0, out: expect.stringContaining('**Status:** Completed') });
  const agents = join(stage.home, 'from-file', 'agents');
  expect(readdirSync(agents).toSorted()).toEqual(['fact_agent', 'review_agent', 'writing_agent']);
  expect(readdirSync(join(agents, 'writing_agent', 'task_output'))).toEqual([
    'advice_1727539201.md',
  ]);
  expect(readFileSync(join(stage.home, 'from-file', 'report.md'), 'utf8')).toContain(
    'agents/writing_agent/task_output/advice_1727539201.md',
  );
  await expectPromisesKept(stage, 'from-file');
});

it('what rests on an amended answer is done again, and what builds on it after that', async () => {
  const advice = held({ pass: true });
  stage.rehearsal.script([
    { match: { delegation: 'advice_1727539201' }, times: 1, reply: advice.reply },
  ]);
  const path = save(typed.replace('costs of three ways.', 'costs of three ways. [ask]'));
  await runCommand(stage, ['plan', 'run', path, '--id', 'amended']);
  const run = stage.client.workflow.getHandle('amended');
  const { question_id } = await untilAsked(stage, run, 'blocking');
  await run.signal('answer', { question_id, answer: 'the person who decides' });
  await eventually('the second wave', async () => (await stage.status(run)).wave === 2);
  // The decision on this wave knows the new answer, and meets the last criterion.
  const answers = [{ question_id, answer: 'everybody' }];
  await run.signal('amend', { instruction: 'It is for everybody.', answers });
  await eventually('the new answer', async () =>
    (await stage.questions(run)).answered.some(({ answer }) => answer === 'everybody'),
  );
  advice.release();
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 3 });
  const { stale } = await storedRecord(stage.home, 'amended');
  expect(new Map(stale.map((one) => [one.delegation_id, one.redone_by]))).toEqual(
    new Map([
      ['costs_1727539202', 'costs-2_1727539202'],
      ['advice_1727539201', 'advice-2_1727539201'],
    ]),
  );
  // The command started both: the stage knows neither.
  const { client, home } = stage;
  await expectPromisesKept({ client, home, started: ['from-file'] }, 'amended');
});

it('what the planner gives out after a task that failed is verified by the verifier of the plan', async () => {
  const failed = { json: unmet('failed', 'No prices are known.', 'three-ways') };
  stage.rehearsal.script([{ match: { delegation: 'costs_1727539202' }, times: 1, reply: failed }]);
  await runCommand(stage, ['plan', 'run', save(typed), '--id', 'beside-plan']);
  const run = stage.client.workflow.getHandle('beside-plan');
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  const { waves } = await storedRecord(stage.home, 'beside-plan');
  const outcomes = waves.flatMap((wave) => wave.outcomes);
  const ofPlanner = outcomes.filter(({ delegation_id }) => !/_\d{10}$/.test(delegation_id));
  expect(ofPlanner.length).toBeGreaterThan(0);
  for (const { verification } of ofPlanner) {
    expect(verification).toMatchObject({ verified_by: 'reviewer', status: 'verified' });
  }
});

it('carries out a plan that needs more waves than a run has by itself', async () => {
  const path = save(typed);
  const limits = ['--max-waves', '1', '--max-delegations', '1'];
  await runCommand(stage, ['plan', 'run', path, '--id', 'many-waves', ...limits]);
  const run = stage.client.workflow.getHandle('many-waves');
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 3 });
  const { answered } = await stage.questions(run);
  expect(answered).toEqual([]);
});

it('starts nothing for a plan with a finding', async () => {
  const path = save(typed.replaceAll('review_agent', 'fact_agent'));
  const { code, out } = await runCommand(stage, ['plan', 'run', path, '--id', 'refused']);
  expect(code).toBe(1);
  expect(out).toMatch(/plan\.yaml:\d+:\d+: .*\(DP23\)\n/);
  const started = await stage.client.workflow
    .getHandle('refused')
    .describe()
    .catch(() => null);
  expect(started).toBeNull();
  expect(stage.rehearsal.calls()).toEqual([]);
});
