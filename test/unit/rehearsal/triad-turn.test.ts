import { openSpec } from '../../../core/spec/read-spec.ts';
import { listStateTools } from '../../../core/triad/roles.ts';
import { triad } from '../../support/scripted-triad.ts';
import { memberPrompt, paramsFor, startRig, textOf } from './support.ts';
import type { Rig } from './support.ts';
import { noDuties } from '../../../core/triad/phase-state.ts';
import type { TurnBrief } from '../../../contracts/state-call.ts';

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.server.close());

const briefOf = (changes: Partial<TurnBrief> = {}): TurnBrief => {
  const { type, members } = triad('dialectic');
  const [member] = members;
  if (member === undefined) throw new Error('A triad has members.');
  return {
    type,
    phase: 'deliberate',
    member,
    team: members.map(({ name, role }) => ({ name, role })),
    round: 1,
    rounds_max: 3,
    summary_ref: null,
    at_work: [],
    instruction_ref: null,
    heard: [],
    returned: [],
    spec: openSpec(
      ['ovens'],
      members.map(({ name }) => name),
    ),
    duties: { ...noDuties, claim: ['ovens'] },
    tools: listStateTools(member, 'deliberate', false),
    ...changes,
  };
};

const paramsOf = (brief: TurnBrief) =>
  paramsFor(memberPrompt('Bake', brief), {
    tools: brief.tools.map((name) => ({ name, input_schema: { type: 'object' } })),
  });

test('a text and calls come in one reply, streamed and whole', async () => {
  const params = paramsOf(briefOf());
  const streamed = await rig.client.messages.stream(params).finalMessage();
  const whole = await rig.client.messages.create(params);
  expect(streamed.content.map(({ type }) => type)).toEqual(['text', 'tool_use']);
  expect(streamed.stop_reason).toBe('tool_use');
  const plain = ({ content }: typeof whole) =>
    content.map((block) => (block.type === 'tool_use' ? block.input : block.type));
  expect(plain(whole)).toEqual(plain(streamed));
});

test('a call that came back with an error is made again, the others are not', async () => {
  const brief = briefOf({ duties: { ...noDuties, claim: ['ovens', 'shop'] } });
  const params = paramsOf(brief);
  const first = await rig.client.messages.create(params);
  const calls = first.content.filter((block) => block.type === 'tool_use');
  const results = calls.map(({ id }, at) => ({
    type: 'tool_result' as const,
    tool_use_id: id,
    content: at === 0 ? 'Refused.' : 'Registered.',
    is_error: at === 0,
  }));
  const second = await rig.client.messages.create({
    ...params,
    messages: [
      ...params.messages,
      { role: 'assistant', content: first.content },
      { role: 'user', content: results },
    ],
  });
  const inputs = second.content.flatMap((block) =>
    block.type === 'tool_use' ? [block.input] : [],
  );
  expect(calls).toHaveLength(2);
  expect(inputs).toEqual([calls[0]?.input]);
});

test('a turn that owes nothing is a text', async () => {
  const message = await rig.client.messages.create(
    paramsOf(briefOf({ phase: 'execute', duties: noDuties, tools: ['edit_section'] })),
  );
  expect(message.stop_reason).toBe('end_turn');
  expect(textOf(message)).toContain('Rehearsal of the proposer proposer in execute, round 1');
});
