import type Anthropic from '@anthropic-ai/sdk';
import { AgentOutput } from '../../../contracts/agent-output.ts';
import type { WrittenDelegation } from '../../../contracts/delegation.ts';
import {
  askFor,
  delegationPrompt,
  paramsFor,
  plainFormat,
  planPrompt,
  startRig,
} from './support.ts';
import type { Rig } from './support.ts';
import { WrittenPlan } from '../../../contracts/wave-plan.ts';

let rig: Rig;
let delegations: readonly WrittenDelegation[];
beforeAll(async () => {
  rig = await startRig();
  const plan = WrittenPlan.parse(
    await askFor(rig.client, WrittenPlan, planPrompt('Open a bakery')),
  );
  delegations = plan.delegations;
});
afterAll(() => rig.server.close());

type Messages = Anthropic.MessageParam[];

const work = async (messages: Messages | string): Promise<AgentOutput> =>
  AgentOutput.parse(await askFor(rig.client, AgentOutput, messages));

const criterionIds = (delegation: WrittenDelegation | undefined): string[] =>
  (delegation?.acceptance_criteria ?? []).map((criterion) => criterion.criterion_id);

const metIds = (output: AgentOutput): string[] =>
  output.coverage.criteria_met.map((criterion) => criterion.criterion_id);

const covered = ({ coverage }: AgentOutput): number =>
  coverage.criteria_met.length + coverage.criteria_unmet.length;

const talk = (first: string, output: unknown, second: string): Messages => [
  { role: 'user', content: first },
  { role: 'assistant', content: JSON.stringify(output) },
  { role: 'user', content: second },
];

test('the first delegation asks one choice question, and completes with the answer', async () => {
  const prompt = delegationPrompt('Open a bakery', delegations[0]);
  const blocked = await work(prompt);
  expect(blocked.status).toBe('blocked');
  expect(blocked.blocking_questions).toHaveLength(1);
  const [question] = blocked.blocking_questions;
  expect(question).toMatchObject({ expected_answer_format: 'choice' });
  expect(question?.choices).toHaveLength(3);
  expect(question?.choices).toContain(question?.default_answer);
  expect(blocked.coverage.criteria_unmet.map((item) => item.criterion_id)).toEqual(
    criterionIds(delegations[0]),
  );

  const answers = [{ question_id: 'q1', text: question?.text, answer: 'the team that builds it' }];
  const done = await work(talk(prompt, blocked, `<answers>${JSON.stringify(answers)}</answers>`));
  expect(done).toMatchObject({ status: 'completed', blocking_questions: [] });
  expect(metIds(done)).toEqual(criterionIds(delegations[0]));
  expect(done.compact_md).toContain('the team that builds it');
  expect(done.detailed_md).toContain('the team that builds it');
});

test('an answer in the first message is as good', async () => {
  const answered = [
    { question_id: 'q1', text: 'For whom?', answer: 'everybody', delegation_id: 'gather-facts' },
  ];
  const done = await work(delegationPrompt('Open a bakery', delegations[0], { answered }));
  expect(done.status).toBe('completed');
  expect(done.compact_md).toContain('everybody');
});

test('the second delegation leaves a criterion out and repairs it', async () => {
  const prompt = delegationPrompt('Open a bakery', delegations[1]);
  const first = await work(prompt);
  expect(metIds(first)).toEqual(criterionIds(delegations[1]).slice(0, -1));
  expect(first.coverage.criteria_unmet).toEqual([]);

  const faults = [
    { path: 'coverage', reason: 'compare-options-c2 is missing', hint: 'Try: add it' },
  ];
  const second = await work(talk(prompt, first, `<faults>${JSON.stringify(faults)}</faults>`));
  expect(metIds(second)).toEqual(criterionIds(delegations[1]));
});

test.each([2, 3])(
  'delegation %i completes at once, with evidence that is in detailed_md',
  async (place) => {
    const done = await work(delegationPrompt('Open a bakery', delegations[place]));
    expect(done.status).toBe('completed');
    expect(metIds(done)).toEqual(criterionIds(delegations[place]));
    for (const { evidence } of done.coverage.criteria_met) {
      const [, heading, quoted] = /section “(.+?)”: “(.+)”$/su.exec(evidence) ?? [];
      expect(done.detailed_md).toContain(heading);
      expect(done.detailed_md).toContain(quoted);
    }
  },
);

test('a run has exactly one question and one output that must be repaired', async () => {
  const outputs = await Promise.all(
    delegations.map((delegation) => work(delegationPrompt('Open a bakery', delegation))),
  );
  expect(outputs.flatMap((output) => output.blocking_questions)).toHaveLength(1);
  const lacking = outputs.filter(
    (output, place) => covered(output) < criterionIds(delegations[place]).length,
  );
  expect(lacking).toHaveLength(1);
});

test('a hand-typed delegation without the marks completes at once', async () => {
  const delegation = {
    delegation_id: 'mine',
    task_description: 'Do it.',
    acceptance_criteria: [{ criterion_id: 'c1', description: 'x'.repeat(1_000) }],
  };
  const done = await work(delegationPrompt('g'.repeat(10_000), delegation));
  expect(done.status).toBe('completed');
  expect(metIds(done)).toEqual(['c1']);
});

const loader: Anthropic.Tool = {
  name: 'load_detail',
  description: 'Loads a detail.',
  input_schema: {
    type: 'object',
    properties: { detail_id: { type: 'string' } },
    required: ['detail_id'],
  },
};
const details = [{ detail_id: 'd7', title: 'Ovens', summary: 'About ovens', tags: [], size: 10 }];

test('a listed detail is loaded once, before the answer', async () => {
  const params = paramsFor(delegationPrompt('Open a bakery', delegations[2], { details }), {
    tools: [loader],
    output_config: { format: plainFormat(AgentOutput) },
  });
  const asked = await rig.client.messages.stream(params).finalMessage();
  expect(asked.stop_reason).toBe('tool_use');
  const call = asked.content.find((block) => block.type === 'tool_use');
  expect(call).toMatchObject({ name: 'load_detail', input: { detail_id: 'd7' } });

  const answered = await rig.client.messages.create({
    ...params,
    messages: [
      ...params.messages,
      { role: 'assistant', content: asked.content },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: call?.id ?? '', content: 'Ovens are hot.' }],
      },
    ],
  });
  expect(answered.stop_reason).toBe('end_turn');
  const [block] = answered.content;
  const output = AgentOutput.parse(JSON.parse(block?.type === 'text' ? block.text : ''));
  expect(output.detailed_md).toContain('Ovens are hot.');
});

test.each([
  ['an empty index', { details: [] }, undefined],
  ['tool_choice none', { details }, { type: 'none' } as const],
])('with %s nothing is loaded', async (_, more, tool_choice) => {
  const message = await rig.client.messages.create(
    paramsFor(delegationPrompt('Open a bakery', delegations[2], more), {
      tools: [loader],
      ...(tool_choice && { tool_choice }),
    }),
  );
  expect(message.stop_reason).toBe('end_turn');
});

test('a forced tool gets an input that fits its schema', async () => {
  const tool: Anthropic.Tool = {
    name: 'roll',
    input_schema: {
      type: 'object',
      properties: { sides: { type: 'integer', minimum: 6 }, why: { type: 'string' } },
      required: ['sides'],
    },
  };
  const message = await rig.client.messages.create(
    paramsFor('<goal>Win</goal>', {
      tools: [loader, tool],
      tool_choice: { type: 'tool', name: 'roll' },
    }),
  );
  const call = message.content.find((block) => block.type === 'tool_use');
  expect(call).toMatchObject({
    name: 'roll',
    input: { sides: expect.any(Number), why: expect.stringContaining('Win') },
  });
  expect(Object(call?.input)['sides']).toBeGreaterThanOrEqual(6);
});
