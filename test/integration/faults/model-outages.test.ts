import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import { spendingOf } from '../../../core/budget/spending.ts';
import type { RawReply } from '../../../rehearsal/script.ts';
import { scriptedCalls, statusesOf } from '../../support/calls.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { plan, plans, plansOneTask, work, works } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const goal = 'Compare three ways to store a backup';
const task = { agent_id: 'writer', task_description: 'Write one page about backups.' };

/** Milliseconds from the end of each call to the beginning of the next. */
function waitsMs(): number[] {
  const calls = stage.rehearsal.calls();
  return calls.slice(1).map((call, i) => call.startedAtMs - (calls[i]?.endedAtMs ?? Infinity));
}

it('fault 17: a rate limit is waited out for at least as long as the API asked', async () => {
  stage.rehearsal.script([
    { times: 1, reply: { status: 429, headers: { 'retry-after': '2' } } },
    { times: 1, reply: { status: 429, headers: { 'retry-after': '1' } } },
  ]);
  const run = await stage.start('delegation', task);
  const outcome: DelegationOutcome = await run.result();
  expect(outcome).toMatchObject({ status: 'completed', turns: 1, usage: { calls: 1 } });
  expect(statusesOf(stage.rehearsal.calls())).toEqual([429, 429, 200]);
  const [first = 0, second = 0] = waitsMs();
  expect(first).toBeGreaterThanOrEqual(2_000);
  expect(second).toBeGreaterThanOrEqual(1_000);
  await expectPromisesKept(stage, run.workflowId);
});

it.each([500, 529, 504])(
  'fault 19: %i three times, then well: 4 calls, 1 result',
  async (status) => {
    stage.rehearsal.script([{ times: 3, reply: { status } }]);
    const run = await stage.start('delegation', task);
    const outcome: DelegationOutcome = await run.result();
    expect(outcome).toMatchObject({ status: 'completed', turns: 1, usage: { calls: 1 } });
    expect(statusesOf(stage.rehearsal.calls())).toEqual([status, status, status, 200]);
    await expectPromisesKept(stage, run.workflowId);
  },
);

it('fault 19: outages in plan, work and decision of one run leave one result of each', async () => {
  stage.rehearsal.script([
    { match: { schema: 'plan' }, times: 3, reply: { status: 500 } },
    { match: { schema: 'delegation' }, times: 3, reply: { status: 529 } },
    { match: { schema: 'decision' }, times: 3, reply: { status: 504 } },
    plansOneTask,
  ]);
  const run = await stage.start('plannerRun', { goal });
  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed', waves: 1 });
  expect(scriptedCalls(stage, 0, 1, 2)).toHaveLength(9);
  expect(result.usage.calls).toBe(3);
  expect(stage.rehearsal.counts().calls).toBe(3 + 9);
  await expectPromisesKept(stage, run.workflowId);
});

type RawRow = readonly [title: string, reply: RawReply];

const protocolRows: readonly RawRow[] = [
  ['an HTML page', { raw: '<html><body>Please log in to the hotel WLAN</body></html>' }],
  ['an empty body', { raw: '', contentType: 'application/json' }],
  ['error JSON', { raw: '{"type":"error","error":{"type":"api_error","message":"oops"}}' }],
];

it.each(protocolRows)(
  'fault 23: 200 with %s is asked for twice more, then fails the delegation',
  async (_title, reply) => {
    stage.rehearsal.script([{ reply }]);
    const run = await stage.start('delegation', task);
    const outcome: DelegationOutcome = await run.result();
    expect(outcome).toMatchObject({ status: 'failed', turns: 1, output_ref: null });
    expect(outcome.reason).toMatch(/something that is no message.*ANTHROPIC_BASE_URL/);
    expect(outcome.reason).not.toContain('WLAN');
    expect(statusesOf(scriptedCalls(stage))).toEqual([200, 200, 200]);
    expect(stage.rehearsal.counts().calls).toBe(3);
    // Nobody knows what these calls were billed, so none of them counts as free.
    expect(outcome.usage).toMatchObject({ calls: 0, unreported_calls: 3 });
    await expectPromisesKept(stage, run.workflowId);
  },
);

it.each(protocolRows)(
  'fault 23: 200 with %s twice, then well: one result, and the calls in between are counted',
  async (_title, reply) => {
    stage.rehearsal.script([{ times: 2, reply }]);
    const run = await stage.start('delegation', task);
    const outcome: DelegationOutcome = await run.result();
    expect(outcome).toMatchObject({
      status: 'completed',
      turns: 1,
      usage: { calls: 1, unreported_calls: 2 },
    });
    expect(scriptedCalls(stage)).toHaveLength(2);
    await expectPromisesKept(stage, run.workflowId);
  },
);

it('fault 23: a delegation whose replies are no messages does not take the wave with it', async () => {
  stage.rehearsal.script([
    works('bad', { raw: '<html>proxy</html>' }),
    plans(1, plan([work('good'), work('bad')])),
  ]);
  const run = await stage.start('plannerRun', { goal });
  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed', waves: 2 });
  expect(scriptedCalls(stage, 0)).toHaveLength(3);
  expect(stage.rehearsal.counts().calls).toBe(spendingOf(result.usage).calls);
  expect(result.usage.unreported_calls).toBe(3);
  await expectPromisesKept(stage, run.workflowId);
});
