import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { WrittenDelegation } from '../../../contracts/delegation.ts';
import type { LoneOutcome } from '../../../contracts/delegation-run.ts';
import type { WaveResult } from '../../../contracts/planner-wave.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { bodyOf } from '../../support/calls.ts';
import { refusedInput } from '../../support/input-refusal.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  blocked,
  callsOf,
  completed,
  newestText,
  plan,
  planCalls,
  plans,
  question,
  unmet,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();
const folder = mkdtempSync(join(tmpdir(), 'planwave-agents-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const goal = 'Host the backup';

it('a plannerRun starts with {"goal":"…"} alone', async () => {
  const run = await stage.start('plannerRun', { goal });
  const { question_id, choices } = await openQuestion(stage, run);
  await submit(run, { question_id, answer: choices[0] });
  const result = await stage.result(run);
  expect(result).toMatchObject({ run_id: run.workflowId, status: 'completed' });
  expect(readFileSync(join(stage.home, result.result_path), 'utf8')).toContain(goal);
  await expectPromisesKept(stage, run.workflowId);
});

it('a plannerWave starts with {"goal":"…"} alone, and has an inbox and a result of its own', async () => {
  const run = await stage.start('plannerWave', { goal });
  const { question_id, choices } = await openQuestion(stage, run);
  await submit(run, { question_id, answer: choices[2] });
  const wave: WaveResult = await run.result();
  expect(wave).toMatchObject({ wave: 1, status: 'decided' });
  expect(wave.decision?.planner_decision.io_status).toBe('OK');
  const status = await stage.status(run);
  expect(status).toMatchObject({ phase: 'completed', usage: wave.usage });
  const report = join(stage.home, status.result_path ?? '', '../report.md');
  expect(readFileSync(report, 'utf8')).toContain(choices[2]);
  await expectPromisesKept(stage, run.workflowId);
});

it('a delegation starts with {"agent_id":"…","task_description":"…"} alone, and asks by itself', async () => {
  stage.rehearsal.script([
    { match: { nth: 1 }, reply: { json: blocked([question('Which region?')], 'c1') } },
    { reply: { json: completed('c1') } },
  ]);
  const run = await stage.start('delegation', { agent_id: 'writer', task_description: goal });
  const { question_id } = await openQuestion(stage, run);
  await submit(run, { question_id, answer: 'eu-west' });
  const outcome: LoneOutcome = await run.result();
  expect(outcome).toMatchObject({
    delegation_id: 'task',
    agent_id: 'writer',
    answer: '# Result\n\n## c1\n\nIt is done.',
    status: 'completed',
    criteria_met: ['c1'],
    turns: 2,
  });
  expect(newestText(stage.rehearsal.calls()[1])).toContain('eu-west');
  const status = await stage.status(run);
  expect(status).toMatchObject({ phase: 'completed', usage: outcome.usage });
  expect(readFileSync(join(stage.home, status.result_path ?? ''), 'utf8')).toContain(goal);
  await expectPromisesKept(stage, run.workflowId);
});

it.each([
  [
    'plannerRun',
    { goal: ' ', criteria: [''], limits: { max_waves: 0, max_wave: 3 }, mood: 'good' },
    [
      /^goal: expected a goal\. Try: \{/,
      /^criteria\[0\]: /,
      /^limits\.max_waves: /,
      /^limits\.?.*max_wave/,
      /mood/,
    ],
  ],
  [
    'plannerWave',
    { delegations: [{ ...work('a'), agent_id: 'No One', title: undefined }], use_defaults: 'yes' },
    [/^goal: /, /^delegations\[0\]\.agent_id: /, /^delegations\[0\]\.title: /, /^use_defaults: /],
  ],
  [
    'delegation',
    { agent_id: 7, acceptance_criteria: [], agents_dir: '' },
    [/^agent_id: /, /^task_description: /, /^acceptance_criteria: /, /^agents_dir: /],
  ],
  [
    'delegation',
    { agent_id: 'nobody', task_description: goal },
    [/^agent_id: there is no agent "nobody".*"writer"/],
  ],
  ['delegation', { agent_id: 'planner', task_description: goal }, [/^agent_id: the planner plans/]],
  ['plannerRun', { carried: { version: 1 } }, [/^goal: /, /carried/]],
  ['plannerWave', { order: { wave: 1 } }, [/^goal: /, /order/]],
] as const)('a %s with bad input names every fault at once: %j', async (type, input, expected) => {
  const run = await stage.start(type, input);
  const faults = await refusedInput(run);
  for (const fault of expected) expect(faults).toContainEqual(expect.stringMatching(fault));
  expect(faults).toHaveLength(expected.length);
  expect(stage.rehearsal.counts().calls).toBe(0);
  await expectPromisesKept(stage, run.workflowId);
});

it('fault 46: one workflow id started twice is one run', async () => {
  stage.rehearsal.script([
    plans(1, plan([work('host')])),
    works('host', { json: blocked([question('Which region?')], 'host-done') }, 1),
    works('host', { json: completed('host-done') }),
  ]);
  const run = await stage.start('plannerRun', { goal });
  await openQuestion(stage, run);
  await expect(stage.start('plannerRun', { goal: 'Another' }, run.workflowId)).rejects.toThrow(
    WorkflowExecutionAlreadyStartedError,
  );
  expect(await stage.status(run)).toMatchObject({ goal, open_questions: 1 });
  await submit(run, { question_id: 'q1', answer: 'eu-west' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed' });
  expect(planCalls(stage.rehearsal)).toHaveLength(1);
  expect(callsOf(stage.rehearsal, 'host')).toHaveLength(2);
  await expectPromisesKept(stage, run.workflowId);
});

function writeAgent(dir: string, name: string, role: string): void {
  const lines = [
    '---',
    `name: ${name}`,
    `description: ${name} of the test.`,
    'capabilities: [verse]',
  ];
  writeFileSync(
    join(dir, `${name}.md`),
    [...lines, 'risk_level: low', '---', '', role, ''].join('\n'),
  );
}

function verse(id: string): WrittenDelegation {
  return work(id, { agent_id: 'poet', criteria: ['goal-1', `${id}-done`] });
}

it('fault 46: a run keeps the agents it began with when their files change', async () => {
  const dir = join(folder, 'changing');
  mkdirSync(dir);
  writeAgent(dir, 'poet', 'You write verse.');
  stage.rehearsal.script([
    plans(1, plan([verse('ode')])),
    works('ode', { json: blocked([question('Which metre?')], 'goal-1', 'ode-done') }, 1),
    works('ode', { json: unmet('completed', 'no rhyme', 'goal-1', 'ode-done') }),
    plans(2, plan([verse('hymn')])),
    works('hymn', { json: completed('goal-1', 'hymn-done') }),
    plans(3, plan([work('last', { agent_id: 'poet', criteria: ['ode-done'] })])),
    works('last', { json: completed('ode-done') }),
  ]);
  const run = await stage.start('plannerRun', { goal, criteria: ['It rhymes.'], agents_dir: dir });
  await openQuestion(stage, run);
  writeAgent(dir, 'poet', 'You write prose now.');
  writeAgent(dir, 'critic', 'You judge.');
  await submit(run, { question_id: 'q1', answer: 'iambic' });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 3 });
  for (const id of ['ode', 'hymn', 'last']) {
    const [packet] = bodyOf(callsOf(stage.rehearsal, id).at(-1)).messages;
    expect(JSON.stringify(packet)).toContain('You write verse.');
  }
  const listed = planCalls(stage.rehearsal).map((call) => newestText(call));
  for (const text of listed) {
    expect(text).toContain('"agent_id":"poet"');
    expect(text).not.toContain('"agent_id":"critic"');
  }
  await expectPromisesKept(stage, run.workflowId);

  // The files have changed indeed: the next run sees them.
  stage.rehearsal.reset();
  const next = await stage.start('plannerRun', { goal, agents_dir: dir, use_defaults: true });
  expect(await stage.result(next)).toMatchObject({ status: 'completed' });
  expect(newestText(planCalls(stage.rehearsal)[0])).toContain('"agent_id":"critic"');
  await expectPromisesKept(stage, next.workflowId);
});
