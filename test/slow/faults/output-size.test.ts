import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import type { Reply } from '../../../rehearsal/script.ts';
import { bodyOf, faultsOf, scriptedCalls } from '../../support/calls.ts';
import type { StoredHistory } from '../../support/histories.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  completed,
  decision,
  plan,
  plansOneTask,
  question,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const goal = 'Compare three ways to store a backup';
const task = { agent_id: 'writer', task_description: 'Write one page about backups.' };

/** Bytes of the largest payload of each history, and that no history is large as a whole. */
function expectSmall(histories: readonly StoredHistory[]): void {
  for (const { workflowId, history } of histories) {
    const sizes = payloadSizes(history);
    expect([workflowId, Math.max(...sizes) < 100_000]).toEqual([workflowId, true]);
    const total = sizes.reduce((sum, size) => sum + size, 0);
    expect([workflowId, total < 300_000]).toEqual([workflowId, true]);
  }
}

function payloadSizes(value: unknown): number[] {
  if (value instanceof Uint8Array) return [value.byteLength];
  if (typeof value === 'string') return [Buffer.byteLength(value)];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(payloadSizes);
}

/** Keeps the schema, and is far too much for history all the same. */
const wordy = {
  ...completed('c1'),
  optional_questions: Array.from({ length: 10 }, (_, i) =>
    question(`${i}: ${'why '.repeat(450)}`, {
      why_it_matters: 'because '.repeat(120),
      default_answer: 'so '.repeat(600),
      expected_answer_format: 'text',
      choices: [],
    }),
  ),
  assumptions_made: Array.from({ length: 20 }, () => ({
    statement: 'I assume that '.repeat(70),
    confidence: 'low' as const,
  })),
};

it('fault 50: an output whose outline is too large for history goes back to be shortened', async () => {
  stage.rehearsal.script([{ times: 1, reply: { json: wordy } }]);
  const run = await stage.start('delegation', task);
  const outcome: DelegationOutcome = await run.result();
  expect(outcome).toMatchObject({ status: 'completed', turns: 2, usage: { calls: 2 } });
  expect(scriptedCalls(stage)).toHaveLength(1);
  const [fault] = faultsOf(stage.rehearsal.calls()[1]);
  expect(fault).toMatch(/^optional_questions: .*at most 64000.*Try: shorten it/);
  expectSmall(await expectPromisesKept(stage, run.workflowId));
});

it('fault 50: one that stays too large fails after three calls, without a storm of retries', async () => {
  stage.rehearsal.script([{ reply: { json: wordy } }]);
  const run = await stage.start('delegation', task);
  const outcome: DelegationOutcome = await run.result();
  expect(outcome).toMatchObject({ status: 'failed', turns: 3, usage: { calls: 3 } });
  expect(outcome.reason).toMatch(/No valid output in 3 attempts.*at most 64000/);
  expect(scriptedCalls(stage)).toHaveLength(3);
  expect(stage.rehearsal.counts().calls).toBe(3);
  expectSmall(await expectPromisesKept(stage, run.workflowId));
});

it('fault 50: a plan and a decision that are too large go back to the planner', async () => {
  const inputs = Array.from({ length: 50 }, (_, i) => `input ${i} ${'x'.repeat(100)}`);
  const largePlan = plan(
    Array.from({ length: 20 }, (_, i) => work(`d${i}`, { required_inputs: inputs })),
  );
  const reasons = Array.from({ length: 50 }, () => 'no '.repeat(330));
  const small = decision('task-done');
  const largeDecision = {
    ...small,
    planner_decision: { ...small.planner_decision, not_ok_reasons: reasons, next_actions: reasons },
  };
  stage.rehearsal.script([
    { match: { schema: 'plan', nth: 1 }, reply: { json: largePlan } },
    { match: { schema: 'decision', nth: 1 }, reply: { json: largeDecision } },
    plansOneTask,
  ]);
  const run = await stage.start('plannerRun', { goal });
  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed', usage: { calls: 5 } });
  expect(scriptedCalls(stage, 0, 1)).toHaveLength(2);
  const faults = stage.rehearsal.calls().flatMap(faultsOf);
  expect(faults).toHaveLength(2);
  for (const fault of faults) expect(fault).toMatch(/at most 64000/);
  expectSmall(await expectPromisesKept(stage, run.workflowId));
});

it('fault 50: an output of several MB goes by reference: small histories, bounded prompts, a whole result', async () => {
  const line = 'What was found out, in many words. 🐘\n';
  const detailed_md = `# Much\n\n${line.repeat(90_000)}`;
  const compact_md = `Much: ${'and more '.repeat(120_000)}`;
  stage.rehearsal.script([
    works('first', { json: { ...completed('first-done'), detailed_md, compact_md } }),
    {
      match: { schema: 'plan' },
      reply: {
        json: plan([
          work('first'),
          work('last', { required_inputs: ['first'], depends_on: ['first'] }),
        ]),
      },
    },
  ]);
  const run = await stage.start('plannerRun', { goal });
  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed', waves: 1 });
  expect(scriptedCalls(stage, 0)).toHaveLength(1);
  for (const call of stage.rehearsal.calls()) {
    expect(JSON.stringify(bodyOf(call)).length).toBeLessThan(200_000);
  }
  const folder = join(stage.home, result.result_path, '..');
  const whole = join(folder, 'agents/researcher/task_output/first.md');
  expect(readFileSync(whole, 'utf8')).toContain(line.repeat(1_000));
  expectSmall(await expectPromisesKept(stage, run.workflowId));
});

type LongRow = readonly [title: string, reply: Reply, said: RegExp];
const long = 'word '.repeat(200_000);

const longRows: readonly LongRow[] = [
  ['a refusal', { text: long, stop_reason: 'refusal' }, /The model refused/],
  ['a stop reason', { text: 'x', stop_reason: long }, /reason that is not known/],
  ['an error message', { status: 400, message: long }, /HTTP 400/],
  ['an error type', { status: 400, errorType: long }, /HTTP 400/],
  ['an error page', { status: 413, body: `<html>${long}</html>` }, /HTTP 413/],
  ['a text that is no JSON', { text: long }, /not JSON alone/],
];

it.each(longRows)(
  'fault 50: %s of 1 MB is cut before it reaches history',
  async (_title, reply, said) => {
    stage.rehearsal.script([{ reply }]);
    const run = await stage.start('delegation', task);
    const outcome: DelegationOutcome = await run.result();
    expect(outcome.status).toBe('failed');
    expect(outcome.reason).toMatch(said);
    expect(outcome.reason.length).toBeLessThan(3_000);
    expect(scriptedCalls(stage).length).toBeLessThanOrEqual(3);
    expectSmall(await expectPromisesKept(stage, run.workflowId));
  },
);

it('fault 50: a reply with more tool calls than history can hold goes back, and its call is counted', async () => {
  const calls = Array.from({ length: 1_500 }, () => ({
    name: 'load_detail',
    input: { detail_id: 'more' },
  }));
  stage.rehearsal.script([{ times: 1, reply: { tool_use: calls } }]);
  const run = await stage.start('delegation', task);
  const outcome: DelegationOutcome = await run.result();
  expect(outcome).toMatchObject({ status: 'completed', turns: 2, usage: { calls: 2 } });
  expect(scriptedCalls(stage)).toHaveLength(1);
  expect(faultsOf(stage.rehearsal.calls()[1])[0]).toMatch(/1500 tool calls/);
  expectSmall(await expectPromisesKept(stage, run.workflowId));
});
