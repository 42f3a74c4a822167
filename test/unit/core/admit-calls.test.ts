import * as fc from 'fast-check';
import type { TeamCall } from '../../../contracts/state-call.ts';
import { engineLimits } from '../../../core/limits.ts';
import { admitCalls } from '../../../core/team/admit-calls.ts';
import type { GivenCall, TeamState } from '../../../core/team/team-state.ts';
import { teamSeat } from '../../support/team-fixtures.ts';
import { callOn, teamOf } from './team-builders.ts';
import { property } from './builders.ts';

const admit = (state: TeamState, ...calls: readonly GivenCall[]) => admitCalls(state, calls, 0);
const reasonsOf = (state: TeamState, ...calls: readonly GivenCall[]): string[] =>
  admit(state, ...calls).refused.map(({ reason }) => reason);

describe('names and inputs', () => {
  it('ADM4: a call gets its own name or the next number, and its task an id with a dot', () => {
    const { tasks } = admit(
      teamOf(),
      callOn('ann'),
      callOn('bob', { name: 'prices' }),
      callOn('cy', { name: 'd2' }),
      callOn('ann'),
    );
    expect(tasks.map(({ delegation_id }) => delegation_id)).toEqual([
      'design.d1',
      'design.prices',
      'design.d2',
      'design.d3',
    ]);
  });

  it('ADM4: a name that another result has is refused, in the same reply and later', () => {
    const first = admit(
      teamOf(),
      callOn('ann', { name: 'prices' }),
      callOn('bob', { name: 'prices' }),
    );
    expect(first.tasks).toHaveLength(1);
    expect(first.refused[0]?.reason).toContain('"prices" is the name of another result');
    expect(reasonsOf(first.state, callOn('cy', { name: 'prices' }))).toHaveLength(1);
  });

  it('ADM5: inputs are results of tasks before, beside, or from outside of the team', () => {
    const { state } = admit(teamOf({}, { upstream: ['research'] }), callOn('ann', { name: 'a' }));
    const { tasks, refused } = admit(
      state,
      callOn('bob', { name: 'b', inputs: ['a', 'design.c', 'research'] }),
      callOn('cy', { name: 'c' }),
    );
    expect(refused).toEqual([]);
    expect(tasks[0]).toMatchObject({
      inputs: ['design.a', 'design.c', 'research'],
      depends_on: ['design.a', 'design.c'],
      after: ['design.c'],
    });
  });

  it('ADM5: an unknown input is refused with those that there are', () => {
    const { state } = admit(teamOf(), callOn('ann', { name: 'a' }));
    expect(reasonsOf(state, callOn('bob', { inputs: ['nothing'] }))).toEqual([
      'there is no result "nothing". Results: "a", and those of calls with a name in the same reply',
    ]);
  });

  it('OT2: a task that speaks of another one by name or member comes after it, and is given its result', () => {
    const { tasks } = admit(
      teamOf(),
      callOn('ann', { mentions: ['draft', 'cy'] }),
      callOn('bob', { name: 'draft' }),
      callOn('cy'),
    );
    expect(tasks.map(({ after }) => after)).toEqual([['design.draft', 'design.d2'], [], []]);
    expect(tasks[0]).toMatchObject({ inputs: ['design.draft', 'design.d2'], depends_on: [] });
  });

  it('ADM5: who needs a refused call is refused too, however long the chain', () => {
    const { tasks, refused } = admit(
      teamOf(),
      callOn('cy', { name: 'c', inputs: ['b'] }),
      callOn('bob', { name: 'b', inputs: ['a'] }),
      callOn('nobody', { name: 'a' }),
      callOn('ann', { name: 'free' }),
    );
    expect(tasks.map(({ name }) => name)).toEqual(['free']);
    expect(refused).toHaveLength(3);
  });
});

it('ADM2: of a refusal as much is kept as a report may hold', () => {
  const inputs = Array.from({ length: 9 }, (_, n) => `${n}`.repeat(100));
  const { state, refused } = admit(teamOf(), callOn('ann', { inputs }));
  expect(refused[0]?.reason.length).toBeGreaterThan(engineLimits.teamReasonCharsMax);
  expect(state.refused[0]?.reason).toHaveLength(engineLimits.teamReasonCharsMax);
});

describe('what is given out once', () => {
  it('case 10.2: the same task for the same member is refused, and the reason names the first', () => {
    const { state } = admit(teamOf(), callOn('ann', { task_hash: 'h' }));
    expect(reasonsOf(state, callOn('ann', { task_hash: 'h' }))[0]).toMatch(
      /^the same task .* as "d1"/,
    );
    expect(admit(state, callOn('bob', { task_hash: 'h' })).tasks).toHaveLength(1);
  });

  it('ADM3: twice in one reply is once', () => {
    const { tasks, refused } = admit(
      teamOf(),
      callOn('ann', { task_hash: 'h' }),
      callOn('ann', { task_hash: 'h' }),
    );
    expect([tasks.length, refused.length]).toEqual([1, 1]);
  });

  it('ADM3: other inputs make it another task', () => {
    const { state } = admit(
      teamOf(),
      callOn('bob', { name: 'b' }),
      callOn('ann', { task_hash: 'h' }),
    );
    expect(admit(state, callOn('ann', { task_hash: 'h', inputs: ['b'] })).tasks).toHaveLength(1);
  });

  it('ADM3: what a team above has given out is not given out again, and the way is shown', () => {
    const above = admit(teamOf(), callOn('ann', { task_hash: 'h' }));
    const given = above.tasks.map(({ delegation_id, fingerprint }) => ({
      delegation_id,
      fingerprint,
    }));
    const chain = [{ executor_id: 'team:outer', given }];
    const below = teamOf({}, { chain });
    const [reason = ''] = reasonsOf(below, callOn('ann', { task_hash: 'h' }));
    expect(reason).toContain('"design.d1"');
    expect(reason).toContain('team:outer→team:design→agent:ann→team:outer');
    const [named = ''] = reasonsOf(
      teamOf({ team_id: 'desk' }, { chain }),
      callOn('ann', { task_hash: 'h' }),
    );
    expect(named).toContain('team:outer→team:desk→agent:ann→team:outer');
  });
});

describe('limits', () => {
  it('case 10.1: no more tasks than max_delegations, over all replies; the reason names the limit', () => {
    const { state } = admit(teamOf({ max_delegations: 2 }), callOn('ann'));
    const { tasks, refused } = admit(state, callOn('bob'), callOn('cy'));
    expect(tasks).toHaveLength(1);
    expect(refused[0]?.reason).toContain('the limit of 2 delegations (max_delegations) is reached');
  });

  it('ADM8: where teams in one another have given out enough, the rest of a reply is refused', () => {
    const { tasks, refused } = admitCalls(teamOf(), [callOn('ann'), callOn('bob')], 0, 1);
    expect(tasks).toHaveLength(1);
    expect(refused[0]?.reason).toContain('have given out 300 tasks, which is the limit');
    expect(admitCalls(teamOf(), [callOn('ann')], 0, 0).tasks).toEqual([]);
  });

  it('part of fault 29, ADM7: calls that need each other are refused, the cycle shown', () => {
    const { tasks, refused } = admit(
      teamOf(),
      callOn('ann', { name: 'a', inputs: ['b'] }),
      callOn('bob', { name: 'b', inputs: ['a'] }),
      callOn('cy', { name: 'c' }),
    );
    expect(tasks.map(({ name }) => name)).toEqual(['c']);
    expect(refused.map(({ reason }) => reason)).toEqual([
      expect.stringContaining('a→b→a'),
      expect.stringContaining('a→b→a'),
    ]);
  });
});

const kindsOf = (state: TeamState, ...calls: readonly GivenCall[]): string[] =>
  admit(state, ...calls).refused.map(({ kind }) => kind);

it('a refused call is counted by the rule that refused it first', () => {
  const state = teamOf();
  const chain = [callOn('ann', { name: 'b', inputs: ['a'] }), callOn('nobody', { name: 'a' })];
  expect(kindsOf(state, ...chain)).toEqual(['needs', 'member']);
  const ring = [
    callOn('ann', { name: 'a', inputs: ['b'] }),
    callOn('bob', { name: 'b', inputs: ['a'] }),
  ];
  expect(kindsOf(state, ...ring)).toEqual(['cycle', 'cycle']);
  expect(kindsOf(state, callOn('ann', { inputs: ['x'] }))).toEqual(['input']);
  const twice = [callOn('ann', { task_hash: 'h' }), callOn('ann', { task_hash: 'h' })];
  expect(kindsOf(state, ...twice)).toEqual(['repeated']);
  const named = [callOn('ann', { name: 'a' }), callOn('bob', { name: 'a' })];
  expect(kindsOf(state, ...named)).toEqual(['name']);
  expect(kindsOf(teamOf({ max_delegations: 1 }), callOn('ann'), callOn('bob'))).toEqual(['limit']);
});

type Call = Partial<TeamCall> & Pick<TeamCall, 'member_id'>;

/** Any calls on any of three members, under few names, so that everything that can be wrong is. */
const anyCalls = fc.array(
  fc.record({
    member_id: fc.constantFrom('ann', 'bob', 'cy', 'dan', 'nobody'),
    name: fc.constantFrom(null, 'a', 'b', 'c', 'd1'),
    inputs: fc.array(fc.constantFrom('a', 'b', 'c', 'd1', 'd2', 'research', 'x'), { maxLength: 3 }),
    task_hash: fc.constantFrom('h1', 'h2', 'h3', 'h4', 'h5', 'h6'),
    mentions: fc.subarray(['a', 'b', 'c', 'ann', 'bob']),
  }),
  { maxLength: 6 },
);

const anyReplies = fc.array(anyCalls, { maxLength: 4 });

function play(replies: readonly (readonly Call[])[]) {
  const members = [teamSeat('ann'), teamSeat('bob'), teamSeat('cy', { enabled: false })];
  let state = teamOf({ members, max_delegations: 5 }, { upstream: ['research'] });
  return replies.map((reply) => {
    const calls = reply.map((call) => callOn(call.member_id, call));
    const before = state;
    const result = admitCalls(state, calls, 0);
    ({ state } = result);
    return { before, calls, result };
  });
}

describe('any calls', () => {
  it('ADM1: never more than max_delegations tasks', () => {
    fc.assert(
      fc.property(anyReplies, (replies) => {
        const last = play(replies).at(-1)?.result.state.tasks.entries ?? [];
        expect(last.length).toBeLessThanOrEqual(5);
      }),
      property,
    );
  });

  it('ADM2: each call is a task or refused, with a reason', () => {
    fc.assert(
      fc.property(anyReplies, (replies) => {
        for (const { calls, result } of play(replies)) {
          const ids = [...result.tasks, ...result.refused].map(({ tool_use_id }) => tool_use_id);
          expect(ids.toSorted()).toEqual(calls.map(({ tool_use_id }) => tool_use_id).toSorted());
          expect(result.refused.every(({ reason }) => reason.length > 20)).toBe(true);
        }
      }),
      property,
    );
  });

  it('ADM2: a refused call leaves nothing but its refusal', () => {
    fc.assert(
      fc.property(anyReplies, (replies) => {
        for (const { before, result } of play(replies)) {
          const added = result.state.tasks.entries.slice(before.tasks.entries.length);
          expect(added).toMatchObject(result.tasks);
          expect(result.state.refused_total).toBe(before.refused_total + result.refused.length);
        }
      }),
      property,
    );
  });

  it('ADM3: no two tasks of a team are the same', () => {
    fc.assert(
      fc.property(anyReplies, (replies) => {
        const tasks = play(replies).at(-1)?.result.state.tasks.entries ?? [];
        expect(new Set(tasks.map(({ fingerprint }) => fingerprint)).size).toBe(tasks.length);
        expect(new Set(tasks.map(({ delegation_id }) => delegation_id)).size).toBe(tasks.length);
      }),
      property,
    );
  });

  it('ADM5: whatever a task needs is a task or came from outside', () => {
    fc.assert(
      fc.property(anyReplies, (replies) => {
        for (const { result } of play(replies)) {
          const known = new Set([
            ...result.state.tasks.entries.map((one) => one.delegation_id),
            'research',
          ]);
          for (const task of result.tasks) {
            expect([...task.inputs, ...task.after].every((id) => known.has(id))).toBe(true);
          }
        }
      }),
      property,
    );
  });

  it('ADM6: the same calls on the same state end the same', () => {
    fc.assert(
      fc.property(anyReplies, (replies) => {
        for (const { before, calls, result } of play(replies)) {
          expect(admitCalls(before, calls, 0)).toEqual(result);
        }
      }),
      property,
    );
  });
});
