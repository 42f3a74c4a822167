import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import type { ErrorReply } from '../../../rehearsal/script.ts';
import { scriptedCalls } from '../../support/calls.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import type { StoredHistory } from '../../support/histories.ts';
import { atOnce, plansOneTask } from '../../support/scripted-work.ts';
import type { Stage } from '../../support/stage.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const goal = 'Compare three ways to store a backup';
const task = { agent_id: 'writer', task_description: 'Write one page about backups.' };

async function untilParked(run: Parameters<Stage['status']>[0]) {
  return eventually('a parked run', async () => {
    const status = await stage.status(run);
    return status.phase === 'parked' ? status : null;
  });
}

type ParkedRow = readonly [title: string, reply: ErrorReply, where: string, said: RegExp];

const parkedRows: readonly ParkedRow[] = [
  [
    'a spend cap in a delegation',
    { status: 429, errorCode: 'contract_spend_limit_reached' },
    '/task/',
    /spend limit.*HTTP 429, contract_spend_limit_reached.*resume/,
  ],
  ['401 on the plan', { status: 401 }, '/wave_plan/', /API key.*HTTP 401.*resume/],
  ['402 in a delegation', { status: 402 }, '/agent_output/', /can't pay.*HTTP 402.*resume/],
  ['403 on the decision', { status: 403 }, '/wave_decision/', /permission.*HTTP 403.*resume/],
];

it.each(parkedRows)(
  'fault 18: %s parks the run with the reason, and resume completes it',
  async (_title, reply, where, said) => {
    stage.rehearsal.script([{ match: { callKeyIncludes: where }, times: 1, reply }, plansOneTask]);
    const run = await stage.start('plannerRun', { goal, use_defaults: true });
    const status = await untilParked(run);
    expect(status.parked_reason).toMatch(said);
    expect(status.waiting_for[0]).toBe(`parked: ${status.parked_reason}`);
    const shown = await eventually('a memo that says so', async () => {
      const described = await run.describe();
      return described.memo?.['phase'] === 'parked' ? described : null;
    });
    expect(shown.memo?.['waiting_for']).toMatch(said);
    expect(shown.searchAttributes['PlanwavePhase']).toEqual(['parked']);

    await run.signal('resume', {});
    const result = await stage.result(run);
    expect(result.status).toBe('completed');
    expect(scriptedCalls(stage, 0)).toHaveLength(1);
    // The refused call was not billed and not repeated before somebody resumed.
    expect(stage.rehearsal.counts().calls).toBe(result.usage.calls + 1);
    await expectPromisesKept(stage, run.workflowId);
  },
);

it('fault 18: calls that are refused together park the run once, and one resume is enough', async () => {
  stage.rehearsal.script([
    {
      match: { schema: 'delegation' },
      times: 2,
      reply: atOnce(2, { status: 429, errorCode: 'enforced_spend_limit_reached' }),
    },
  ]);
  const run = await stage.start('plannerRun', { goal, use_defaults: true });
  await untilParked(run);
  await eventually('both refusals', async () => {
    const history = await stage.client.workflow
      .getHandle(`${run.workflowId}/wave-001`)
      .fetchHistory();
    const failed = history.events?.filter((event) => event.activityTaskFailedEventAttributes);
    return failed?.length === 2;
  });
  expect(stage.rehearsal.counts().calls).toBe(3);
  await run.signal('resume', {});
  const result = await stage.result(run);
  expect(result.status).toBe('completed');
  expect(scriptedCalls(stage)).toHaveLength(2);
  const [ofRun] = await expectPromisesKept(stage, run.workflowId);
  // The other one is the question of the rehearsal.
  expect(countSignals(ofRun?.history, 'escalate')).toBe(2);
});

function countSignals(history: StoredHistory['history'] | undefined, name: string): number {
  const signals = (history?.events ?? []).filter(
    (event) => event.workflowExecutionSignaledEventAttributes?.signalName === name,
  );
  return signals.length;
}

it('fault 18: a run that is refused again after resume is parked again', async () => {
  stage.rehearsal.script([{ times: 2, reply: { status: 402 } }]);
  const run = await stage.start('delegation', task);
  await untilParked(run);
  expect(stage.rehearsal.counts().calls).toBe(1);
  await run.signal('resume', {});
  await stage.rehearsal.waitForCalls(2, 'ended');
  await untilParked(run);
  await run.signal('resume', {});
  const outcome: DelegationOutcome = await run.result();
  expect(outcome).toMatchObject({ status: 'completed', turns: 1, usage: { calls: 1 } });
  expect(scriptedCalls(stage)).toHaveLength(2);
  expect(stage.rehearsal.counts().calls).toBe(3);
  await expectPromisesKept(stage, run.workflowId);
});

it('fault 18: a parked run can be stopped', async () => {
  stage.rehearsal.script([{ match: { schema: 'delegation' }, reply: atOnce(2, { status: 401 }) }]);
  const run = await stage.start('plannerRun', { goal, use_defaults: true });
  await untilParked(run);
  await run.signal('stop', { reason: 'no key to be had' });
  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'stopped', usage: { calls: 1 } });
  expect(scriptedCalls(stage)).toHaveLength(2);
  await expectPromisesKept(stage, run.workflowId);
});

type RefusedRow = readonly [title: string, reply: ErrorReply, said: RegExp];

const refusedRows: readonly RefusedRow[] = [
  ['400', { status: 400, message: 'max_tokens: too high' }, /HTTP 400.*max_tokens: too high/],
  [
    '413 as HTML',
    { status: 413, body: '<html><h1>413 Request Entity Too Large</h1></html>' },
    /larger than the model API or a proxy.*HTTP 413/,
  ],
  ['422', { status: 422, message: 'unprocessable' }, /HTTP 422.*unprocessable/],
  ['an unknown 418', { status: 418, body: "I'm a teapot", contentType: 'text/plain' }, /HTTP 418/],
];

it.each(refusedRows)(
  'fault 20: %s fails the delegation after one call, in clear text',
  async (_title, reply, said) => {
    stage.rehearsal.script([{ reply }]);
    const run = await stage.start('delegation', task);
    const outcome: DelegationOutcome = await run.result();
    expect(outcome).toMatchObject({ status: 'failed', turns: 1, usage: { calls: 0 } });
    expect(outcome.reason).toMatch(said);
    expect(outcome.reason).not.toContain('<');
    expect(scriptedCalls(stage)).toHaveLength(1);
    expect(stage.rehearsal.counts().calls).toBe(1);
    await expectPromisesKept(stage, run.workflowId);
  },
);

it('fault 20: a model that does not exist (404) parks the run, because a person can mend it', async () => {
  stage.rehearsal.script([
    { times: 1, reply: { status: 404, message: 'model: claude-retired-1' } },
  ]);
  const run = await stage.start('delegation', task);
  const { parked_reason } = await untilParked(run);
  expect(parked_reason).toMatch(/does not know this model.*HTTP 404.*claude-retired-1/);
  expect(stage.rehearsal.counts().calls).toBe(1);
  await run.signal('resume', {});
  const outcome: DelegationOutcome = await run.result();
  expect(outcome).toMatchObject({ status: 'completed', usage: { calls: 1 } });
  expect(scriptedCalls(stage)).toHaveLength(1);
  await expectPromisesKept(stage, run.workflowId);
});

it('fault 20: a wave outlives a refused delegation, and the planner sends its criteria out again', async () => {
  stage.rehearsal.script([
    { match: { callKeyIncludes: 'compare-options/' }, reply: { status: 422 } },
  ]);
  const run = await stage.start('plannerRun', { goal, use_defaults: true });
  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'completed', waves: 2 });
  expect(scriptedCalls(stage)).toHaveLength(1);
  expect(stage.rehearsal.counts().calls).toBe(result.usage.calls + 1);
  await expectPromisesKept(stage, run.workflowId);
});

it('fault 20: a plan that the API refuses is a question to the user', async () => {
  stage.rehearsal.script([{ times: 1, reply: { status: 400, message: 'bad request' } }]);
  const run = await stage.start('plannerRun', { goal, use_defaults: false });
  const question = await eventually('a question', async () => (await stage.questions(run)).open[0]);
  expect(question).toMatchObject({ kind: 'planner_stuck', choices: ['retry', 'abandon'] });
  expect(question.text).toMatch(/HTTP 400/);
  expect(stage.rehearsal.counts().calls).toBe(1);
  await run.signal('answer', { question_id: question.question_id, answer: 'abandon' });
  const result = await stage.result(run);
  expect(result).toMatchObject({ status: 'abandoned', usage: { calls: 0 } });
  await expectPromisesKept(stage, run.workflowId);
});
