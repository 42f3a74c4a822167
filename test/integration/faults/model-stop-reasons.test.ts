import type { DelegationOutcome } from '../../../contracts/delegation-run.ts';
import type { WaveResult } from '../../../contracts/planner-wave.ts';
import type { Reply } from '../../../rehearsal/script.ts';
import { bodyOf, lastMessageOf, scriptedCalls } from '../../support/calls.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { callsOf, plansOneTask, work, works } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const goal = 'Compare three ways to store a backup';
const task = { agent_id: 'writer', task_description: 'Write one page about backups.' };

async function runTask(times: number, reply: Reply): Promise<[DelegationOutcome, string]> {
  stage.rehearsal.script([{ times, reply }]);
  const run = await stage.start('delegation', task);
  const outcome: DelegationOutcome = await run.result();
  return [outcome, run.workflowId];
}

const maxTokens = (): number[] => stage.rehearsal.calls().map((call) => bodyOf(call).max_tokens);

it('fault 24: max_tokens: the reply is dropped, however whole it looks, and asked for with twice the tokens', async () => {
  const [outcome, id] = await runTask(1, { pass: true, stop_reason: 'max_tokens' });
  expect(outcome).toMatchObject({ status: 'completed', turns: 2, usage: { calls: 2 } });
  expect(scriptedCalls(stage)).toHaveLength(1);
  expect(maxTokens()).toEqual([16_000, 32_000]);
  const [first, second] = stage.rehearsal.calls();
  expect(bodyOf(second).messages).toEqual(bodyOf(first).messages);
  await expectPromisesKept(stage, id);
});

it('fault 24: max_tokens again and again: twice as many twice, then the delegation fails', async () => {
  const [outcome, id] = await runTask(9, { pass: true, stop_reason: 'max_tokens' });
  expect(outcome).toMatchObject({ status: 'failed', turns: 3, usage: { calls: 3 } });
  expect(outcome.reason).toMatch(/cut off at 64000 output tokens/);
  expect(maxTokens()).toEqual([16_000, 32_000, 64_000]);
  expect(scriptedCalls(stage)).toHaveLength(3);
  await expectPromisesKept(stage, id);
});

it('fault 24: refusal: reported with its text, never asked again', async () => {
  const text = 'I will not write about backups.';
  const [outcome, id] = await runTask(1, { text, stop_reason: 'refusal' });
  expect(outcome).toMatchObject({ status: 'failed', turns: 1, usage: { calls: 1 } });
  expect(outcome.reason).toBe(`The model refused: ${text}`);
  expect(scriptedCalls(stage)).toHaveLength(1);
  expect(stage.rehearsal.counts().calls).toBe(1);
  await expectPromisesKept(stage, id);
});

it('fault 24: refusal without a word says that nothing was said', async () => {
  const [outcome, id] = await runTask(1, { text: '', stop_reason: 'refusal' });
  expect(outcome.status).toBe('failed');
  expect(outcome.reason).toMatch(/^The model refused\b.*\w.*\.$/);
  expect(scriptedCalls(stage)).toHaveLength(1);
  await expectPromisesKept(stage, id);
});

it('fault 24: an empty end_turn is not sent again unchanged', async () => {
  const [outcome, id] = await runTask(1, { text: '', stop_reason: 'end_turn' });
  expect(outcome).toMatchObject({ status: 'completed', turns: 2, usage: { calls: 2 } });
  const [first, second] = stage.rehearsal.calls();
  expect(scriptedCalls(stage)).toEqual([first]);
  expect(lastMessageOf(first)).not.toContain('the reply was empty');
  expect(lastMessageOf(second)).toContain('the reply was empty');
  // The API refuses empty messages, so the empty reply must not be sent back.
  expect(bodyOf(second).messages.map(({ role }) => role)).toEqual(['user']);
  await expectPromisesKept(stage, id);
});

it('fault 24: three empty replies fail the delegation', async () => {
  const [outcome, id] = await runTask(9, { text: '' });
  expect(outcome).toMatchObject({ status: 'failed', turns: 3, usage: { calls: 3 } });
  expect(outcome.reason).toMatch(/No valid output in 3 attempts.*the reply was empty/);
  expect(scriptedCalls(stage)).toHaveLength(3);
  await expectPromisesKept(stage, id);
});

it('fault 24: pause_turn: the content goes back as it is, opaque blocks included', async () => {
  const thinking = { type: 'thinking', thinking: 'Let me see …', signature: 'c2ln' };
  const [outcome, id] = await runTask(1, {
    content: [thinking, { type: 'text', text: 'One moment.', citations: null }],
    stop_reason: 'pause_turn',
  });
  expect(outcome).toMatchObject({ status: 'completed', turns: 2, usage: { calls: 2 } });
  expect(scriptedCalls(stage)).toHaveLength(1);
  const last = bodyOf(stage.rehearsal.calls()[1]).messages.at(-1);
  expect(last).toMatchObject({
    role: 'assistant',
    content: [thinking, { type: 'text', text: 'One moment.' }],
  });
  await expectPromisesKept(stage, id);
});

it('fault 24: a provider that pauses for ever ends at max_turns', async () => {
  stage.rehearsal.script([{ reply: { text: 'One moment.', stop_reason: 'pause_turn' } }]);
  const run = await stage.start('delegation', { ...task, limits: { max_turns: 4 } });
  const outcome: DelegationOutcome = await run.result();
  expect(outcome).toMatchObject({ status: 'failed', turns: 4, usage: { calls: 4 } });
  expect(outcome.reason).toMatch(/limit of 4 turns \(max_turns\)/);
  expect(scriptedCalls(stage)).toHaveLength(4);
  await expectPromisesKept(stage, run.workflowId);
});

it('fault 24: an unknown stop reason is an error that names it', async () => {
  const [outcome, id] = await runTask(1, { pass: true, stop_reason: 'quantum_collapse' });
  expect(outcome).toMatchObject({ status: 'failed', turns: 1, usage: { calls: 1 } });
  expect(outcome.reason).toContain('"quantum_collapse"');
  expect(scriptedCalls(stage)).toHaveLength(1);
  await expectPromisesKept(stage, id);
});

it('fault 24: stop_sequence ends a reply like any other', async () => {
  const [outcome, id] = await runTask(1, { pass: true, stop_reason: 'stop_sequence' });
  expect(outcome).toMatchObject({ status: 'completed', turns: 1 });
  expect(scriptedCalls(stage)).toHaveLength(1);
  await expectPromisesKept(stage, id);
});

const contextReplies: readonly (readonly [title: string, reply: Reply, calls: number])[] = [
  [
    'model_context_window_exceeded',
    { pass: true, stop_reason: 'model_context_window_exceeded' },
    1,
  ],
  ['400 "prompt is too long"', { status: 400, message: 'prompt is too long: 210000 tokens' }, 0],
];

it.each(contextReplies)(
  'fault 24: %s with nothing that could be left out fails without asking the same again',
  async (_title, reply, billed) => {
    const [outcome, id] = await runTask(9, reply);
    expect(outcome).toMatchObject({ status: 'failed', usage: { calls: billed } });
    expect(outcome.reason).toMatch(/does not fit the model's context/);
    expect(scriptedCalls(stage)).toHaveLength(1);
    await expectPromisesKept(stage, id);
  },
);

const load = (detail_id: string): Reply => ({
  tool_use: [{ name: 'load_detail', input: { detail_id } }],
});

it.each(contextReplies)(
  'fault 24: %s leaves out the oldest tool results and goes on',
  async (_title, reply) => {
    stage.rehearsal.script([
      works('last', load('a'), 1),
      works('last', load('b'), 2),
      works('last', reply, 3),
    ]);
    const run = await stage.start('plannerWave', {
      goal,
      delegations: [
        work('a'),
        work('b'),
        work('last', { required_inputs: ['a', 'b'], depends_on: ['a', 'b'] }),
      ],
    });
    const wave: WaveResult = await run.result();
    expect(wave.outcomes.map(({ status }) => status)).toEqual(Array(3).fill('completed'));
    expect(scriptedCalls(stage)).toHaveLength(3);
    const calls = callsOf(stage.rehearsal, 'last');
    expect(calls).toHaveLength(4);
    const [, , third, fourth] = calls.map((call) => JSON.stringify(bodyOf(call).messages));
    expect(third).not.toContain('Left out to save space');
    expect(fourth).toContain('Left out to save space');
    await expectPromisesKept(stage, run.workflowId);
  },
);

describe('in the conversation of the planner', () => {
  const ofPlanner: readonly (readonly [title: string, reply: Reply, said: RegExp])[] = [
    [
      'refusal',
      { text: 'No.', stop_reason: 'refusal' },
      /could not plan wave 1: The model refused: No\./,
    ],
    ['an unknown stop', { pass: true, stop_reason: 'odd' }, /could not plan wave 1:.*"odd"/],
  ];

  it.each(ofPlanner)(
    'fault 24: %s on the plan asks the user, and retry begins anew',
    async (_title, reply, said) => {
      stage.rehearsal.script([{ match: { schema: 'plan' }, times: 1, reply }, plansOneTask]);
      const run = await stage.start('plannerRun', { goal });
      const question = await eventually(
        'a question',
        async () => (await stage.questions(run)).open[0],
      );
      expect(question).toMatchObject({ kind: 'planner_stuck', choices: ['retry', 'abandon'] });
      expect(question.text).toMatch(said);
      await run.signal('answer', { question_id: question.question_id, answer: 'retry' });
      const result = await stage.result(run);
      expect(result.status).toBe('completed');
      expect(scriptedCalls(stage, 0)).toHaveLength(1);
      await expectPromisesKept(stage, run.workflowId);
    },
  );

  it('fault 24: a cut plan, a paused one, an empty decision and a cut one end well', async () => {
    stage.rehearsal.script([
      { match: { schema: 'plan', nth: 1 }, reply: { pass: true, stop_reason: 'max_tokens' } },
      { match: { schema: 'plan', nth: 2 }, reply: { text: 'Hm.', stop_reason: 'pause_turn' } },
      { match: { schema: 'decision', nth: 1 }, reply: { text: '' } },
      { match: { schema: 'decision', nth: 2 }, reply: { pass: true, stop_reason: 'max_tokens' } },
      plansOneTask,
    ]);
    const run = await stage.start('plannerRun', { goal });
    const result = await stage.result(run);
    expect(result).toMatchObject({ status: 'completed', waves: 1 });
    expect(scriptedCalls(stage, 0, 1, 2, 3)).toHaveLength(4);
    expect(result.usage.calls).toBe(stage.rehearsal.counts().calls);
    await expectPromisesKept(stage, run.workflowId);
  });
});
