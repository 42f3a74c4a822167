import type { WorkflowHandle } from '@temporalio/client';
import { connectToServer } from '../../../client/connect.ts';
import { createPlanwaveClient } from '../../../client/planwave-client.ts';
import type { PlanwaveClient } from '../../../client/planwave-client.ts';
import type { Usage } from '../../../contracts/usage.ts';
import type { StatusView } from '../../../contracts/views.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { call, memberReply, takes, triad, triadWork } from '../../support/scripted-triad.ts';
import {
  delegates,
  does,
  gives,
  leads,
  members,
  taskCriterion,
  teamInput,
  teamWork,
} from '../../support/scripted-team.ts';
import { completed, held, plan, work, works } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();
let client: PlanwaveClient;
let close: () => Promise<void>;

beforeAll(async () => {
  const server = await connectToServer({ address: stage.address });
  client = createPlanwaveClient({ ...server, taskQueue: stage.taskQueue });
  close = () => server.connection.close();
});
afterAll(() => close());

const goal = 'Compare two ways to store sensor data';
const debaters = { id: 'debaters', triad: triad('dialectic') };

/** @returns undefined when the worker of a slow machine left something untold. */
async function look(runId: string): Promise<{ status: StatusView; usage: Usage } | undefined> {
  const reading = await client.status(runId);
  if (!reading.live) return undefined;
  const { usage, untold } = await client.usageNow(reading.view);
  return untold.length === 0 ? { status: reading.view, usage } : undefined;
}

/** Waits until so many calls are in flight and every other one is in what the client tells. */
function stands(runId: string, inFlight: number): Promise<StatusView> {
  return eventually('every call that was answered', async () => {
    const counts = stage.rehearsal.counts();
    const seen = await look(runId);
    return counts.inFlight === inFlight && seen?.usage.calls === counts.ended
      ? seen.status
      : undefined;
  });
}

/** Looks all the time until the end. @returns what was told last. */
async function neverTwice(run: WorkflowHandle): Promise<Usage> {
  let last = 0;
  for (;;) {
    const seen = await look(run.workflowId);
    if (seen === undefined) continue;
    const { status, usage } = seen;
    expect(usage.calls).toBeLessThanOrEqual(stage.rehearsal.counts().calls);
    expect(usage.calls).toBeGreaterThanOrEqual(last);
    last = usage.calls;
    if (status.phase === 'completed') return usage;
  }
}

it.each([
  ['without a budget', {}],
  ['with a budget', { budget: { calls: 200 } }],
])(
  'a run %s tells what its first wave has used so far, whoever works in it, and nothing twice',
  async (_case, settings) => {
    const planned = held({
      json: plan([
        work('facts'),
        triadWork('design', 'dialectic'),
        teamWork('guide', { members: [...members('researcher'), debaters], allow_parallel: true }),
      ]),
    });
    const gate = held({ pass: true });
    const late = { phase: 'negotiate', member: 'synthesizer' };
    stage.rehearsal.script([
      { match: { schema: 'plan', nth: 1 }, reply: { text: 'This is no plan.' } },
      { match: { schema: 'plan' }, reply: planned.reply },
      works('facts', { text: 'This is no output.' }, 1),
      works('facts', gate.reply),
      // Of the phases at work some turns are over: those of the others.
      { match: { ...late, delegation: 'design' }, reply: gate.reply },
      { match: { ...late, delegation: 'guide.d2' }, reply: gate.reply },
      ...leads(
        [[gives('researcher'), gives('debaters')], { output: completed('guide-done') }],
        'guide',
      ),
      does({ team: 'guide', agent: 'researcher', task: 'd1' }, { json: completed(taskCriterion) }),
    ]);
    const run = await stage.start('plannerRun', { goal, ...settings });
    await stage.rehearsal.waitForCalls(2);
    expect(await stands(run.workflowId, 1)).toMatchObject({ wave: 1, usage: { calls: 0 } });
    planned.release();
    await stage.rehearsal.waitForCalls(12);
    expect(await stands(run.workflowId, 3)).toMatchObject({ wave: 1, usage: { calls: 0 } });
    gate.release();
    const usage = await neverTwice(run);
    expect(usage).toEqual((await stage.result(run)).usage);
    expect(usage.calls).toBe(stage.rehearsal.calls().length);
    await expectPromisesKept(stage, run.workflowId);
  },
);

it.each([
  ['plannerWave', { goal, delegations: [triadWork('task', 'dialectic')] }],
  ['triad', { type: 'dialectic', task: goal }],
  ['triadPhase', { type: 'dialectic', phase: 'negotiate', task: goal, summary: 'Two are known.' }],
] as const)('a %s alone tells it, too', async (type, input) => {
  const gate = held({ pass: true });
  const late = { phase: 'negotiate', member: 'synthesizer' };
  stage.rehearsal.script([{ match: late, reply: gate.reply }]);
  const run = await stage.start(type, input);
  await eventually('the call', async () =>
    stage.rehearsal
      .calls()
      .some(({ turn }) => turn?.member === 'synthesizer' && turn.phase === 'negotiate'),
  );
  expect(await stands(run.workflowId, 1)).toMatchObject({ usage: { calls: 0 } });
  gate.release();
  expect((await neverTwice(run)).calls).toBe(stage.rehearsal.calls().length);
});

it('code that is written with a repair tells what its first call has used', async () => {
  const written = held({ text: '```ts\nexport const answer = 42;\n```' });
  const code = { callKeyIncludes: '/code/' };
  const order = { section_id: 'task-done', language: 'typescript', instructions: 'No imports.' };
  stage.rehearsal.script([
    takes(
      { member: 'proposer', phase: 'execute', nth: 1 },
      memberReply({ calls: [call('generate_code', order)] }),
    ),
    { match: { ...code, nth: 1 }, reply: { text: 'Here:\n```ts\nexport const answer = 42;\n```' } },
    { match: code, reply: written.reply },
  ]);
  const run = await stage.start('plannerWave', {
    goal,
    delegations: [triadWork('task', 'dialectic', { task_description: 'Write it. [later]' })],
  });
  await eventually('the second call for the code', async () => {
    const calls = stage.rehearsal.calls().filter(({ callKey }) => callKey.includes('/code/'));
    return calls.length === 2;
  });
  await stands(run.workflowId, 1);
  written.release();
  expect((await neverTwice(run)).calls).toBe(stage.rehearsal.calls().length);
});

it('a pause between two steps of a leader hides nothing that it has used', async () => {
  const first = held(delegates(gives('researcher')));
  stage.rehearsal.script(leads([first.reply, { output: completed(taskCriterion) }]));
  const run = await stage.start('team', teamInput(['researcher']));
  await stage.rehearsal.waitForCalls(1);
  await run.signal('pause', {});
  first.release();
  expect(await stands(run.workflowId, 0)).toMatchObject({ phase: 'paused' });
  await run.signal('resume', {});
  expect((await neverTwice(run)).calls).toBe(stage.rehearsal.calls().length);
});
