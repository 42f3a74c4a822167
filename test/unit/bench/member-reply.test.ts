import { jsonBlock, textBlock } from '../../../activities/text/blocks.ts';
import { markData } from '../../../activities/prompts/mark-data.ts';
import { stateToolInputs } from '../../../contracts/state-call.ts';
import type { StateToolName, Duties } from '../../../contracts/state-call.ts';
import { composeMemberReply, owesOutput } from '../../bench/member-reply.ts';
import { noDuties } from '../../../core/triad/phase-state.ts';

/** A turn as a member reads it, in the blocks that the engine makes. */
function turn(duties: Partial<Duties>, claims: readonly unknown[] = []): string {
  const spec = [
    { section_id: 'd1-done', owner: null, status: 'open', version: 2, text: 'a [b] c' },
  ];
  return [
    jsonBlock('your_turn', { round: 1, rounds_max: 3, duties: { ...noDuties, ...duties } }),
    markData(
      [
        textBlock('heard', '# proposer, round 1\nplan risk', Infinity),
        jsonBlock('spec', spec),
        jsonBlock('claims', claims),
      ].join('\n\n'),
      'w/d1',
    ),
  ].join('\n\n');
}

/** Returns the calls of the reply, each validated by the schema of its tool. */
function callsOf(newest: string): unknown[] {
  const { tool_use = [] } = composeMemberReply(newest, 'w/d1', 1_000);
  return tool_use.map(({ name, input }) => {
    expect(isStateTool(name)).toBe(true);
    return isStateTool(name) ? [name, stateToolInputs[name].parse(input)] : [];
  });
}

function isStateTool(name: string): name is StateToolName {
  return name in stateToolInputs;
}

it('a turn that owes nothing is a text', () => {
  expect(callsOf(turn({}))).toEqual([]);
  expect(composeMemberReply(turn({}), 'w/d1', 1_000).text).toHaveLength(1_000);
});

it('every section that is owed is claimed', () => {
  expect(callsOf(turn({ claim: ['d1-done'] }))).toEqual([
    ['register_claim', { section_id: 'd1-done', proposal: expect.any(String), write_later: true }],
  ]);
});

it.each([
  [1, { decision: 'REVISE', revised_proposal: expect.any(String) }],
  [2, { decision: 'CONCEDE' }],
])('who answers a claim first revises it, the others concede: revision %i', (revision, answer) => {
  const claims = [{ claim_id: 'c1', revision, proposal: 'a {b}' }];
  expect(callsOf(turn({ answer: ['c1'] }, claims))).toEqual([
    ['negotiate_response', { claim_id: 'c1', reason: expect.any(String), ...answer }],
  ]);
});

it('a section is finished on the version that was shown', () => {
  expect(callsOf(turn({ finish: ['d1-done'] }))).toEqual([
    ['edit_section', expect.objectContaining({ base_version: 2, status: 'done' })],
  ]);
});

it('what settles the last claim may end the phase as well', () => {
  const claims = [{ claim_id: 'c1', revision: 2 }];
  expect(callsOf(turn({ answer: ['c1'], summary: true }, claims))).toEqual([
    ['negotiate_response', expect.anything()],
    [
      'submit_summary',
      expect.objectContaining({
        decisions: [{ section_id: 'd1-done', decision: expect.any(String) }],
      }),
    ],
  ]);
});

it('only the turn that gives the output is no reply of a member', () => {
  expect(owesOutput(turn({ output: true }))).toBe(true);
  expect(owesOutput(turn({ summary: true }))).toBe(false);
});

it('a message that is no turn ends the measurement', () => {
  expect(() => composeMemberReply('<faults>[]</faults>', 'w/d1', 1_000)).toThrow('no member');
});
