import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bodyOf } from '../../support/calls.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { runCommand } from '../../support/run-command.ts';
import { storedRecord } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

/** A plan of one task, whose verifier is a triad. */
const planOf = (instructions: string): string => `task_name: backup-facts
goal: The facts about three ways to keep backups.
summary: One list, judged by three agents.
max_parallel: 1
agents:
  - agent_name: fact_agent
    role: doer
    responsibility: Finds out what each way costs and risks.
    agent_id: researcher
  - agent_name: jury
    role: verifier
    responsibility: Judges every result together.
    agent_id: reviewer
    triad:
      type: dialectic
      reason: A wrong fact costs more than three calls.
      members:
        - { name: pro, role: proposer, agent_id: analyst }
        - { name: con, role: critic, agent_id: tester }
        - { name: syn, role: synthesizer, agent_id: reviewer }
tasks:
  - task_id: facts_1727539200
    title: List three ways
    agent: fact_agent
    instructions: ${instructions}
    outputs:
      - { path: agents/fact_agent/task_output/facts.md, format: Markdown }
    validation:
      verified_by: jury
      evidence:
        - { evidence_id: three-ways, description: The list has 3 rows. }
escalation:
  - Ask the user.
`;

async function begin(id: string, instructions: string): Promise<string> {
  const path = join(stage.home, 'plan.yaml');
  writeFileSync(path, planOf(instructions));
  const { code, err } = await runCommand(stage, ['plan', 'run', path, '--id', id]);
  expect({ code, err }).toMatchObject({ code: 0 });
  return id;
}

const judgedIn = async (id: string) => (await storedRecord(stage.home, id)).waves[0]?.outcomes[0];

it('has a triad judge an output that it did not write, and its writer gives the verdict', async () => {
  const id = await begin('judged', 'List three ways.');
  const run = stage.client.workflow.getHandle(id);
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  const outcome = await judgedIn(id);
  expect(outcome?.verification).toMatchObject({
    verified_by: 'reviewer',
    status: 'verified',
    attempts: 1,
    judgement: {
      delegation_id: 'facts_1727539200.verify-1',
      executor: { kind: 'triad', work: { type: 'dialectic', dissent: [] } },
    },
  });
  const phases = outcome?.verification?.judgement?.executor.work.phases;
  expect(phases?.map(({ phase, status }) => [phase, status])).toEqual([
    ['deliberate', 'done'],
    ['negotiate', 'done'],
    ['execute', 'done'],
  ]);
  const calls = stage.rehearsal.calls();
  const members = calls.filter(({ turn }) => turn !== null);
  expect(new Set(members.map(({ turn }) => turn?.member))).toEqual(new Set(['pro', 'con', 'syn']));
  // Nobody who judges may run or change anything, whatever its file grants.
  const offered = members.flatMap((call) => bodyOf(call).tools ?? []).map(({ name }) => name);
  expect(offered).not.toContain('run_command');
  const told = members.map(({ body }) => JSON.stringify(body).split('allowed_tools>')[1] ?? '');
  expect(told.filter((tools) => tools.includes('run_command'))).toEqual([]);
  // Each sees the output and the evidence, and the verdict rests on what they agreed on.
  expect(members.every((call) => JSON.stringify(call.body).includes('three-ways'))).toBe(true);
  const verdict = calls.filter(({ shape }) => shape === 'verification');
  expect(verdict).toHaveLength(1);
  expect(JSON.stringify(verdict)).toContain('<triad_judgement>');
  await expectPromisesKept(stage, id);
}, 120_000);

it('has the output that fails made again, and judges it anew', async () => {
  const id = await begin('judged-twice', 'List three ways. [failing]');
  expect(await stage.result(stage.client.workflow.getHandle(id))).toMatchObject({
    status: 'completed',
  });
  expect((await judgedIn(id))?.verification).toMatchObject({
    status: 'verified',
    attempts: 2,
    judgement: { delegation_id: 'facts_1727539200.verify-2' },
  });
}, 120_000);

it('passes nothing on whose judgement the triad did not agree: the user decides in the end', async () => {
  const id = await begin('disputed', 'List three ways. [disagree]');
  const run = stage.client.workflow.getHandle(id);
  const question = await eventually(
    'the question after five failures',
    async () => (await stage.questions(run)).open.at(0),
    180_000,
  );
  expect(question).toMatchObject({ kind: 'verification', choices: ['modify', 'guide', 'abandon'] });
  const shown = join(stage.home, id, 'agents/fact_agent/verification_results.json');
  await eventually('the readable results', async () => existsSync(shown));
  await run.signal('stop', { reason: 'seen' });
  await stage.result(run).catch(() => null);
}, 240_000);
