import type Anthropic from '@anthropic-ai/sdk';
import { AgentOutput } from '../../../contracts/agent-output.ts';
import { delegationTool } from '../../../rehearsal/rules/prompt.ts';
import type { ContentReply } from '../../../rehearsal/script.ts';
import {
  delegates,
  does,
  gives,
  heardResults,
  leaderCalls,
  leads,
  loneTeam,
  members,
  taskCalls,
  taskCriterion,
  teamInput,
  teamWork,
} from '../../support/scripted-team.ts';
import { completed } from '../../support/scripted-work.ts';
import { packetPrompt, paramsFor, plainFormat, startRig } from './support.ts';
import type { Rig } from './support.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
beforeEach(() => rig.server.reset());
afterAll(() => rig.server.close());

const tool = { name: delegationTool, input_schema: { type: 'object' } } as const;
const format = { output_config: { format: plainFormat(AgentOutput) } };

type Content = Parameters<typeof paramsFor>[0];

function ask(packet: string, isLeader: boolean, ...more: readonly Content[]) {
  const params = paramsFor(packet, { ...format, ...(isLeader && { tools: [tool] }) });
  const rest = more.map((content) => ({ role: 'user', content }) as const);
  return rig.client.messages.create({ ...params, messages: [...params.messages, ...rest] });
}

const leaderOf = (delegation_id: string) =>
  packetPrompt('Bake', 'leader', { delegation_id }, { members: [] });
const taskOf = (name: string, agent = 'researcher') =>
  packetPrompt('Bake', agent, { delegation_id: `${loneTeam}.${name}` });

const callsIn = ({ content }: Anthropic.Message) =>
  content.flatMap((block) => (block.type === 'tool_use' ? [block.input] : []));
const compactIn = ({ content }: Anthropic.Message): unknown =>
  content.flatMap((block) => (block.type === 'text' ? [JSON.parse(block.text)] : []))[0].compact_md;

const saying = (compact_md: string): ContentReply => ({
  json: { ...completed(taskCriterion), compact_md },
});

it('a leader gives out what its script says, one reply for each call, and a nested one its own', async () => {
  rig.server.script([
    ...leads([[gives('researcher'), gives('writer', 'Write.', { name: 'text', inputs: ['d1'] })]]),
    ...leads([delegates(gives('critic'))], `${loneTeam}.d2`),
    ...leads([{ output: completed('nested-done') }, async () => saying('later')], 'other'),
  ]);
  expect(callsIn(await ask(leaderOf(loneTeam), true))).toEqual([
    { member_id: 'researcher', task: 'Do what researcher is for.' },
    { member_id: 'writer', task: 'Write.', name: 'text', inputs: ['d1'] },
  ]);
  expect(callsIn(await ask(leaderOf(`${loneTeam}.d2`), true))).toMatchObject([
    { member_id: 'critic' },
  ]);
  expect(compactIn(await ask(leaderOf('other'), true))).toBe('Done: nested-done.');
  expect(compactIn(await ask(leaderOf('other'), true))).toBe('later');
  expect(leaderCalls(rig.server)).toHaveLength(1);
  expect(leaderCalls(rig.server, 'other')).toHaveLength(2);
});

it('work is scripted by the task, by the agent, and by how often it was called', async () => {
  rig.server.script([
    does({ task: 'd1', nth: 2 }, saying('d1 again')),
    does({ task: 'd1' }, saying('d1')),
    does({ agent: 'writer' }, saying('the writer')),
    does({ team: 'design', task: 'd1' }, saying('of another team')),
  ]);
  expect(compactIn(await ask(taskOf('d1'), false))).toBe('d1');
  expect(compactIn(await ask(taskOf('d1'), false))).toBe('d1 again');
  expect(compactIn(await ask(taskOf('d3', 'writer'), false))).toBe('the writer');
  const ofDesign = packetPrompt('Bake', 'critic', { delegation_id: 'design.d1' });
  expect(compactIn(await ask(ofDesign, false))).toBe('of another team');
  expect(taskCalls(rig.server, { task: 'd1' })).toHaveLength(2);
  expect(taskCalls(rig.server, { agent: 'writer' })).toHaveLength(1);
  expect(taskCalls(rig.server)).toHaveLength(4);
});

it('what a leader was told is read from its newest message', async () => {
  const results: Content = [
    { type: 'tool_result', tool_use_id: 'a', content: 'It is done.' },
    {
      type: 'tool_result',
      tool_use_id: 'b',
      content: [{ type: 'text', text: 'No such member.' }],
      is_error: true,
    },
  ];
  await ask(leaderOf(loneTeam), true, results);
  expect(heardResults(leaderCalls(rig.server)[0])).toEqual([
    { tool_use_id: 'a', text: 'It is done.', is_error: false },
    { tool_use_id: 'b', text: 'No such member.', is_error: true },
  ]);
  expect(() => heardResults(undefined)).toThrow('no such call');
});

it('a team is one that the contracts take', () => {
  expect(teamInput(['researcher', { id: 'boss', team_id: 'inner' }], { timeout: 5 })).toEqual({
    message: 'Do what the test stands for.',
    members: ['researcher', { id: 'boss', team_id: 'inner' }],
    timeout: 5,
  });
  expect(teamWork('design', { members: members('researcher') })).toMatchObject({
    delegation_id: 'design',
    agent_id: 'leader',
    team: { members: [{ id: 'researcher' }] },
  });
});
