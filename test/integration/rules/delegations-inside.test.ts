import { connectToServer } from '../../../client/connect.ts';
import { createPlanwaveClient } from '../../../client/planwave-client.ts';
import type { PlanwaveClient } from '../../../client/planwave-client.ts';
import type { PlannerRunResult } from '../../../contracts/planner-run.ts';
import type { WaveResult } from '../../../contracts/planner-wave.ts';
import type { Usage } from '../../../contracts/usage.ts';
import type { DelegationStatusView } from '../../../contracts/views.ts';
import { eventTypes } from '../../support/histories.ts';
import type { StoredHistory } from '../../support/histories.ts';
import { eventually } from '../../support/eventually.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  blocked,
  callsOf,
  completed,
  decision,
  held,
  newestText,
  ownWorkflows,
  plan,
  plans,
  question,
  work,
  works,
} from '../../support/scripted-work.ts';
import { untilFull, untilIdle, untilTold } from '../../support/until-idle.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage({ thinkMs: 0 });

const goal = 'Host the backup';
const decides = { match: { schema: 'decision' as const }, reply: { json: decision() } };
const budget = { calls: 60, delegation: { calls: 30 } };

let client: PlanwaveClient;
let close: () => Promise<void>;

beforeAll(async () => {
  const server = await connectToServer({ address: stage.address });
  client = createPlanwaveClient({ ...server, taskQueue: stage.taskQueue });
  close = () => server.connection.close();
});
afterAll(() => close());

/** Loads the same detail so often, one call after the other, and completes then. */
function loadsDetail(id: string, times: number) {
  const loads = { tool_use: [{ name: 'load_detail', input: { detail_id: 'gather' } }] };
  return [
    ...Array.from({ length: times }, (_one, at) => works(id, loads, at + 1)),
    works(id, { json: completed(`${id}-done`) }),
  ];
}

/** Usage without what depends on the order of arrival: which of two calls wrote the prefix that the other one read. */
function orderless({
  input_tokens,
  cache_creation_input_tokens,
  cache_read_input_tokens,
  ...usage
}: Usage) {
  return { ...usage, input: input_tokens + cache_creation_input_tokens + cache_read_input_tokens };
}

const countEvents = (histories: readonly StoredHistory[]): number =>
  histories.reduce((sum, one) => sum + eventTypes(one).length, 0);

it('a delegation whose wave has no room left goes on as a workflow of its own, with all that it had', async () => {
  stage.rehearsal.script([
    plans(1, plan([work('gather'), work('load', { depends_on: ['gather'] })])),
    works('gather', { json: completed('gather-done') }),
    ...loadsDetail('load', 12),
    decides,
  ]);
  const run = await stage.start('plannerRun', { goal, budget, limits: { inline_events: 70 } });
  const result: PlannerRunResult = await run.result();
  expect(result).toMatchObject({ status: 'completed', usage: { calls: 16 } });
  expect(stage.rehearsal.calls()).toHaveLength(16);
  const histories = await expectPromisesKept(stage, run.workflowId);
  const below = histories.map(({ workflowId }) => workflowId.slice(run.workflowId.length));
  expect(below).toEqual(['', '/wave-001', '/wave-001/load']);
  const [, wave, load] = histories.map((one) => eventTypes(one).length);
  expect(wave).toBeLessThan(140);
  expect(load).toBeGreaterThan(40);
  // Its later calls continue the conversation of the first.
  expect(newestText(callsOf(stage.rehearsal, 'load')[5])).not.toContain('<task>');
});

it('a delegation that has to leave during a pause begins as a workflow of its own after it', async () => {
  // It is repaired by the next call. Tool calls would wait for the end of the pause themselves.
  const first = held({ json: {} });
  stage.rehearsal.script([
    plans(1, plan([work('gather'), work('load', { depends_on: ['gather'] })])),
    works('gather', { json: completed('gather-done') }),
    works('load', first.reply, 1),
    works('load', { json: completed('load-done') }),
    decides,
  ]);
  const limits = { inline_events: 70 };
  const run = await stage.start('plannerRun', { goal, budget, limits });
  const wave = stage.client.workflow.getHandle(`${run.workflowId}/wave-001`);
  await eventually('its first call', async () => callsOf(stage.rehearsal, 'load').length > 0);
  await untilFull(run, wave, limits.inline_events);
  await run.signal('pause', { reason: 'a longer look' });
  await untilTold(stage, run.workflowId);
  first.release();
  await untilIdle(stage, run.workflowId);
  const own = stage.client.workflow.getHandle(`${wave.workflowId}/load`);
  await expect(own.describe()).rejects.toThrow('not found');
  expect(callsOf(stage.rehearsal, 'load')).toHaveLength(1);
  await run.signal('resume', {});
  expect(await stage.result(run)).toMatchObject({ status: 'completed', usage: { calls: 5 } });
  expect((await own.describe()).status.name).toBe('COMPLETED');
  await expectPromisesKept(stage, run.workflowId);
});

it('a delegation that is stopped before it could leave tells what it loaded', async () => {
  const loads = { tool_use: [{ name: 'load_detail', input: { detail_id: 'gather' } }] };
  // It is repaired by the next call.
  const second = held({ json: {} });
  stage.rehearsal.script([
    works('gather', { json: completed('gather-done') }),
    works('load', loads, 1),
    works('load', second.reply, 2),
  ]);
  const limits = { inline_events: 70 };
  const delegations = [work('gather'), work('load', { depends_on: ['gather'] })];
  const wave = await stage.start('plannerWave', { goal, budget, limits, delegations });
  await eventually('its second call', async () => callsOf(stage.rehearsal, 'load').length > 1);
  await untilFull(wave, wave, limits.inline_events);
  await wave.signal('pause', { reason: 'a longer look' });
  second.release();
  await untilIdle(stage, wave.workflowId);
  await wave.signal('stop', { reason: 'enough' });
  const { outcomes }: WaveResult = await wave.result();
  expect(outcomes[1]).toMatchObject({ status: 'stopped', loaded_details: ['gather'] });
});

it('delegations inside cost fewer events than workflows of their own, and end the same', async () => {
  const ids = ['a', 'b', 'c'];
  const play = async (limits: object) => {
    stage.rehearsal.reset();
    stage.rehearsal.script([
      plans(1, plan(ids.map((id) => work(id)))),
      ...ids.flatMap((id) => loadsDetail(id, 2)),
      decides,
    ]);
    const run = await stage.start('plannerRun', { goal, limits });
    const { status, usage, criteria } = await stage.result(run);
    const histories = await expectPromisesKept(stage, run.workflowId);
    return { end: { status, usage: orderless(usage), criteria }, events: countEvents(histories) };
  };
  const inside = await play({});
  const children = await play(ownWorkflows);
  expect(inside.end).toEqual(children.end);
  expect(inside.events).toBeLessThan(children.events);
  if (process.env['PLANWAVE_FIGURES'] === '1') console.log({ inside, children });
});

it.each([
  ['in its wave', {}],
  ['in a workflow of its own', ownWorkflows],
])(
  'a delegation %s waits without a slot, is told by its path, and goes on with the answer',
  async (_where, limits) => {
    const next = held({ json: completed('next-done') });
    stage.rehearsal.script([
      plans(1, plan([work('ask'), work('next')])),
      works('ask', { json: blocked([question('Which region?')], 'ask-done') }, 1),
      works('ask', { json: completed('ask-done') }),
      works('next', next.reply),
      decides,
    ]);
    const run = await stage.start('plannerRun', {
      goal,
      budget,
      limits: { ...limits, max_parallel: 1 },
    });
    const { question_id } = await openQuestion(stage, run);
    const path = `${run.workflowId}/wave-001/ask`;
    await eventually('the next one at work', async () => callsOf(stage.rehearsal, 'next').length);
    const told = (): Promise<DelegationStatusView> =>
      eventually('its status', () => client.work(path));
    expect(await told()).toMatchObject({
      delegation_id: 'ask',
      state: 'waiting',
      waiting_for: 'Which region?',
      turn: 1,
      usage: { calls: 1 },
    });
    expect(await client.work(`${run.workflowId}/wave-001/none`)).toBeNull();
    await submit(run, { question_id, answer: 'eu-west' });
    // The other one has the only slot.
    expect(callsOf(stage.rehearsal, 'ask')).toHaveLength(1);
    next.release();
    expect(await stage.result(run)).toMatchObject({ status: 'completed', usage: { calls: 6 } });
    expect(newestText(callsOf(stage.rehearsal, 'ask')[1])).toContain('eu-west');
    expect(await told()).toMatchObject({ state: 'completed', turn: 2 });
    await expectPromisesKept(stage, run.workflowId);
  },
);

it('a budget for one delegation stops that one, and the others go on', async () => {
  stage.rehearsal.script([
    plans(1, plan([work('long'), work('short')])),
    ...loadsDetail('long', 9),
    works('short', { json: completed('short-done') }),
    { match: { schema: 'decision' }, reply: { json: decision('long-done') } },
  ]);
  const run = await stage.start('plannerWave', {
    goal,
    budget: { delegation: { calls: 4 } },
  });
  const { question_id, text } = await openQuestion(stage, run);
  expect(text).toContain('long');
  await submit(run, { question_id, answer: 'finish' });
  expect(await run.result()).toMatchObject({
    outcomes: [
      { delegation_id: 'long', status: 'failed', turns: 4 },
      { delegation_id: 'short', status: 'completed' },
    ],
  });
  await expectPromisesKept(stage, run.workflowId);
});
