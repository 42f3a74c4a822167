import type Anthropic from '@anthropic-ai/sdk';
import { AgentOutput } from '../../../contracts/agent-output.ts';
import { stateToolInputs } from '../../../contracts/state-call.ts';
import { delegationTool } from '../../../rehearsal/rules/prompt.ts';
import {
  agents,
  askFor,
  packetPrompt,
  paramsFor,
  planPrompt,
  plainFormat,
  startRig,
  textOf,
} from './support.ts';
import type { Rig } from './support.ts';
import { WrittenPlan } from '../../../contracts/wave-plan.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.server.close());

const delegation = {
  delegation_id: 'task',
  title: 'Bake a loaf',
  task_description: 'Bake a loaf.',
  acceptance_criteria: [{ criterion_id: 'c1', description: 'The task is done as described.' }],
};
const three = [
  { member_id: 'scout', enabled: true },
  { member_id: 'idle', enabled: false },
  { member_id: 'judge', enabled: true },
  { member_id: 'scribe', enabled: true },
];

type Message = Anthropic.MessageParam;

function lead(
  over: { task?: string; members?: unknown; max?: number } = {},
  more: readonly Message[] = [],
) {
  const { task = delegation.task_description, members = three, max = 10 } = over;
  const packet = packetPrompt(
    'Bake',
    'leader',
    { ...delegation, task_description: task },
    { members, max_delegations: max },
  );
  const params = paramsFor(packet, {
    tools: [{ name: delegationTool, input_schema: { type: 'object' } }],
    output_config: { format: plainFormat(AgentOutput) },
  });
  return rig.client.messages.create({ ...params, messages: [...params.messages, ...more] });
}

const inputsOf = ({ content }: Anthropic.Message) =>
  content.flatMap((block) =>
    block.type === 'tool_use' ? [stateToolInputs.delegate_task_to_member.parse(block.input)] : [],
  );

it('a leader gives a task to each member that takes one, and the last is given the results of the others', async () => {
  const reply = await lead();
  expect(reply.stop_reason).toBe('tool_use');
  const inputs = inputsOf(reply);
  expect(inputs.map(({ member_id, name, inputs: given }) => [member_id, name, given])).toEqual([
    ['scout', 'scout', undefined],
    ['judge', 'judge', undefined],
    ['scribe', 'scribe', ['scout', 'judge']],
  ]);
  expect(inputs[0]?.task).toContain('Bake a loaf.');
  expect(new Set(inputs.map(({ task }) => task)).size).toBe(3);
});

it('a message that asks for a question has it asked by who works, and by the leader when it works alone', async () => {
  const task = 'Bake a loaf [ask].';
  expect((await lead({ task })).stop_reason).toBe('tool_use');
  const alone = await lead({ task: `${task} [direct]` });
  expect(AgentOutput.parse(JSON.parse(textOf(alone))).status).toBe('blocked');
});

it('a leader gives out no more than it may', async () => {
  expect(inputsOf(await lead({ max: 1 }))).toHaveLength(1);
});

it('when the results are back, the output of the leader quotes them', async () => {
  const given = await lead();
  const results = given.content
    .filter((block) => block.type === 'tool_use')
    .map(({ id }, at) => ({
      type: 'tool_result' as const,
      tool_use_id: id,
      is_error: at === 2,
      content: at === 2 ? 'failed: no oven' : [{ type: 'text' as const, text: `crumb ${at}` }],
    }));
  const reply = await lead({}, [
    { role: 'assistant', content: given.content },
    { role: 'user', content: results },
  ]);
  const output = AgentOutput.parse(JSON.parse(textOf(reply)));
  expect(output.status).toBe('completed');
  expect(output.coverage.criteria_met.map(({ criterion_id }) => criterion_id)).toEqual(['c1']);
  for (const text of ['scout: crumb 0', 'judge: crumb 1', 'scribe: failed: no oven']) {
    expect(output.detailed_md).toContain(text);
  }
});

it.each([
  ['without a member that takes tasks', { members: [{ member_id: 'idle', enabled: false }] }],
  ['where the message says so', { task: 'Bake a loaf. [direct]' }],
])('a leader answers itself %s', async (_when, over) => {
  const reply = await lead(over);
  expect(AgentOutput.parse(JSON.parse(textOf(reply))).status).toBe('completed');
});

const plan = async (goal: string, more: Parameters<typeof planPrompt>[1]) =>
  WrittenPlan.parse(await askFor(rig.client, WrittenPlan, planPrompt(goal, more)));
const teamsOf = ({ delegations }: WrittenPlan) => delegations.flatMap(({ team }) => team ?? []);

describe('the planner', () => {
  it('gives one delegation to a team where the goal asks for it', async () => {
    const leader = { agent_id: 'leader', description: 'Leads a team.' };
    const planned = await plan('Bake [team]', { agents: [leader, ...agents], teams: [] });
    expect(teamsOf(planned)).toEqual([
      { members: [{ id: 'scout' }, { id: 'judge' }], allow_parallel: true },
    ]);
    expect(planned.delegations.find(({ team }) => team)?.agent_id).toBe('leader');
  });

  it('uses a team by its name where there is one, and an agent where there is none', async () => {
    const teams = [{ team_id: 'bakers', leader: 'judge' }];
    const planned = await plan('Bake [team:bakers]', { teams });
    expect(teamsOf(planned)).toEqual([{ team_id: 'bakers' }]);
    expect(planned.delegations.find(({ team }) => team)?.agent_id).toBe('judge');
    expect(teamsOf(await plan('Bake [team:smiths]', { teams }))).toEqual([]);
    expect(teamsOf(await plan('Bake [team]', {}))).toEqual([]);
    expect(teamsOf(await plan('Bake', { teams }))).toEqual([]);
  });
});
