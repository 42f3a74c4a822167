import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import { spendingOf } from '../../../core/budget/spending.ts';
import type { RecordedCall, Reply, ScriptRule } from '../../../rehearsal/script.ts';
import { bodyOf, scriptedCalls } from '../../support/calls.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import {
  completed,
  decision,
  plan,
  plansOneTask,
  work,
  works,
} from '../../support/scripted-work.ts';
import { findTraces } from '../../support/traces.ts';
import { useStage } from '../../support/use-stage.ts';

/** Long enough for a request and its reply on a busy machine: else a call that is well would end at the limit, too. */
const idleTimeoutMs = 4_000;
const totalTimeoutMs = 10_000;
const { stage } = useStage({ times: { idleTimeoutMs, totalTimeoutMs } });

const goal = 'Compare three ways to store a backup';
const task = { agent_id: 'writer', task_description: 'Write one page about backups.' };

/** Stands in every text that must not be used. */
const half = 'Half of a reply';
const halfText = `${half}: ${'word '.repeat(400)}`;

/** One reply of each kind breaks; what is asked for again goes well. */
function breakOnce(onPlan: Reply, onWork: Reply, onDecision: Reply): ScriptRule[] {
  return [
    { match: { schema: 'plan' }, times: 1, reply: onPlan },
    { match: { schema: 'delegation' }, times: 1, reply: onWork },
    { match: { schema: 'decision' }, times: 1, reply: onDecision },
  ];
}

/** A run whose three calls each break once. Resolves with the broken ones. */
async function completeThrough(rules: readonly ScriptRule[]): Promise<readonly RecordedCall[]> {
  stage.rehearsal.script([...rules, plansOneTask]);
  const run = await stage.start('plannerRun', { goal });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 1 });
  const calls = stage.rehearsal.calls();
  const broken = scriptedCalls(stage, 0, 1, 2);
  expect(broken.map(({ shape }) => shape)).toEqual(['plan', 'delegation', 'decision']);
  expect(calls).toHaveLength(6);
  const histories = await expectPromisesKept(stage, run.workflowId);
  // No half text used: it was kept nowhere, and no later call was told of it.
  expect(findTraces(stage.home, histories, half)).toEqual([]);
  expect(calls.filter((call) => JSON.stringify(call.body).includes(half))).toEqual([]);
  // Asked again in the same words.
  for (const call of broken) {
    const again = calls.find(({ index, shape }) => index > call.index && shape === call.shape);
    expect(bodyOf(again).messages).toEqual(bodyOf(call).messages);
  }
  return broken;
}

const limits: readonly (readonly [title: string, reply: Reply, said: string])[] = [
  ['a stall before the headers', { stall: 'before-headers' }, '4 s (idle limit)'],
  ['a stall in the body', { stall: 'after-headers' }, '4 s (idle limit)'],
  [
    'a stall in the stream',
    { stall: 'in-stream', afterEvents: 8, text: halfText },
    '4 s (idle limit)',
  ],
  ['a stream that never falls silent', { text: halfText, thinkMs: 60_000 }, '10 s (total limit)'],
];

it.each(limits)(
  'fault 21: %s ends at the limit of the watchdog, which is told, and is made again',
  async (_title, reply, said) => {
    stage.rehearsal.script([{ times: 1, reply }]);
    const run = await stage.start('delegation', task);
    const outcome: DelegationOutcome = await run.result();
    expect(outcome).toMatchObject({ status: 'completed', turns: 1 });
    expect(spendingOf(outcome.usage).calls).toBe(2);
    expect(stage.rehearsal.calls().map((call) => call.outcome)).toEqual([
      'client-closed',
      'answered',
    ]);
    const histories = await expectPromisesKept(stage, run.workflowId);
    // The second attempt was told what ended the first, as the server shows meanwhile.
    const told = histories
      .flatMap(({ history }) => history.events ?? [])
      .map((event) => event.activityTaskStartedEventAttributes?.lastFailure?.message ?? '');
    expect(told).toContainEqual(expect.stringContaining(said));
    expect(findTraces(stage.home, histories, half)).toEqual([]);
  },
);

it('fault 21: stalls in plan, work and decision of one run cost three calls and nothing else', async () => {
  const broken = await completeThrough(
    breakOnce(
      { stall: 'before-headers' },
      { stall: 'after-headers' },
      { stall: 'in-stream', afterEvents: 8, text: halfText },
    ),
  );
  expect(broken.map(({ outcome }) => outcome)).toEqual(Array(3).fill('client-closed'));
});

type Cut = (text: { readonly text: string } | { readonly json: unknown }) => Reply;

const cuts: readonly (readonly [title: string, outcome: string, cut: Cut])[] = [
  ['a clean end', 'cut', (said) => ({ cut: 'eof-without-stop', afterEvents: 8, ...said })],
  ['a reset', 'cut', (said) => ({ cut: 'mid-stream', afterEvents: 8, ...said })],
  [
    'an error event',
    'answered',
    (said) => ({
      sseError: { type: 'overloaded_error', message: 'Overloaded' },
      afterEvents: 8,
      ...said,
    }),
  ],
];

it.each(cuts)(
  'fault 22: %s in mid-stream of plan, work and decision: retried, no half text used',
  async (_title, outcome, cut) => {
    const reply = cut({ text: halfText });
    const broken = await completeThrough(breakOnce(reply, reply, reply));
    expect(broken.map((call) => call.outcome)).toEqual(Array(3).fill(outcome));
  },
);

it.each(cuts)(
  'fault 22: %s after the last word: a text is not whole because it looks so',
  async (_title, outcome, cut) => {
    // Everything of the reply is sent, up to the event that would say so.
    const all = (json: unknown): Reply => ({ ...cut({ json }), afterEvents: 1_000 });
    const looksWhole = { ...completed('task-done'), compact_md: `${half} that looks whole.` };
    const broken = await completeThrough(
      breakOnce(
        all({ ...plan([work('task')]), summary: `${half} that looks whole.` }),
        all(looksWhole),
        all({ ...decision(), wave_compact: `${half} that looks whole.` }),
      ),
    );
    expect(broken.map((call) => call.outcome)).toEqual(Array(3).fill(outcome));
  },
);

it('fault 22: half of a tool call is not carried out', async () => {
  const tool = { name: 'write_file', input: { path: 'a.md', content: half } };
  stage.rehearsal.script([
    works('task', { cut: 'mid-stream', afterEvents: 5, tool_use: [tool] }, 1),
    works('task', { cut: 'eof-without-stop', afterEvents: 1_000, tool_use: [tool] }, 2),
    works('task', { json: completed('task-done') }),
    plansOneTask,
  ]);
  const run = await stage.start('plannerRun', { goal });
  expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 1 });
  expect(scriptedCalls(stage, 0, 1).map((call) => call.outcome)).toEqual(['cut', 'cut']);
  const histories = await expectPromisesKept(stage, run.workflowId);
  expect(findTraces(stage.home, histories, half)).toEqual([]);
  const activities = histories.flatMap(({ history }) =>
    (history.events ?? []).map((event) => event.activityTaskScheduledEventAttributes),
  );
  expect(activities.map((one) => one?.activityType?.name)).not.toContain('runTool');
});
