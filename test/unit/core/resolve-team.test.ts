import * as fc from 'fast-check';
import type { NamedTeam, TeamMember } from '../../../contracts/team.ts';
import { chooseLeader } from '../../../core/team/summarise-teams.ts';
import { findDefinition, resolveTeam } from '../../../core/team/resolve-team.ts';
import type { TeamRegistry } from '../../../core/team/resolve-team.ts';

const peers = (...ids: readonly string[]) =>
  ids.map((agent_id) => ({ name: agent_id, role: 'peer' as const, agent_id }));

const desk: NamedTeam = {
  team_id: 'desk',
  leader: 'writer',
  members: [{ id: 'researcher' }, { id: 'two', team_id: 'other', capabilities: ['proof'] }],
};

const registry: TeamRegistry = {
  agents: [
    { agent_id: 'planner', capabilities: ['planning'] },
    { agent_id: 'researcher', capabilities: ['research', 'sources'] },
    { agent_id: 'writer', capabilities: ['writing'] },
  ],
  teams: [desk],
};

const seatOf = (member: TeamMember) =>
  resolveTeam({ members: [member] }, 'writer', registry).members[0];

describe('TRS1: what is left out', () => {
  it('TRS1: is a name too, where a team was typed without one', () => {
    const typed = { team_id: 'this-team', members: [{ id: 'researcher' }] };
    expect(resolveTeam(typed, 'writer', registry).team_id).toBeNull();
  });

  it('TRS1: is the default of the engine, and of the members their agents', () => {
    expect(resolveTeam({ members: [{ id: 'researcher' }] }, 'writer', registry)).toEqual({
      team_id: null,
      leader: 'writer',
      model: null,
      members: [
        {
          member_id: 'researcher',
          executor: { kind: 'agent' },
          executor_id: 'agent:researcher',
          agent_id: 'researcher',
          capabilities: ['research', 'sources'],
          priority: 0,
          enabled: true,
        },
      ],
      allow_parallel: false,
      max_parallel: 3,
      max_delegations: 10,
      timeout: 1_200,
      member_timeout: 400,
      max_retries: 1,
      input_middlewares: [],
      output_middlewares: [],
      guardrails: { input: [], output: [] },
      thread_id: null,
      user_id: null,
      notes: [],
    });
  });

  it('stands as it was given where it was given', () => {
    const given = {
      model: 'opus',
      allow_parallel: true,
      max_parallel: 5,
      max_delegations: 7,
      timeout: 90.5,
      member_timeout: 30,
      max_retries: 0,
      input_middlewares: ['redact'],
      output_middlewares: ['size'],
      thread_id: 't',
      user_id: 'u',
    };
    const setup = resolveTeam(
      {
        team_id: 'desk',
        ...given,
        guardrails: { output: ['orders'] },
        members: [
          { id: 'ann', agent_id: 'writer', capabilities: [], priority: 2, enabled: false },
          { id: 'researcher' },
        ],
      },
      'writer',
      registry,
    );
    expect(setup).toMatchObject({
      team_id: 'desk',
      ...given,
      guardrails: { input: [], output: ['orders'] },
      members: [
        { member_id: 'ann', capabilities: [], priority: 2, enabled: false },
        { member_id: 'researcher' },
      ],
    });
  });

  it('a triad can do what its agents can, a team what its members can', () => {
    const members = peers('writer', 'researcher', 'writer');
    expect(seatOf({ id: 'three', triad: { type: 'consensus', reason: 'r', members } })).toEqual({
      member_id: 'three',
      executor: { kind: 'triad', type: 'consensus' },
      executor_id: 'triad:consensus:writer,researcher,writer',
      agent_id: 'writer',
      capabilities: ['writing', 'research', 'sources'],
      priority: 0,
      enabled: true,
    });
    expect(seatOf({ id: 'below', team_id: 'desk' })).toMatchObject({
      executor: { kind: 'team', team_id: 'desk' },
      executor_id: 'team:desk',
      agent_id: 'writer',
      capabilities: ['proof', 'research', 'sources'],
    });
  });
});

it('TRS1: a member can do no more things than an agent may', () => {
  const agents = ['a', 'b'].map((agent_id) => ({
    agent_id,
    capabilities: Array.from({ length: 15 }, (_, n) => `${agent_id}${n}`),
  }));
  const triad = { type: 'consensus', reason: 'r', members: peers('a', 'b', 'b') } as const;
  const { members } = resolveTeam({ members: [{ id: 'both', triad }] }, 'a', { agents, teams: [] });
  expect(members[0]?.capabilities).toHaveLength(20);
});

describe('TRS2: the time of a task', () => {
  it('TRS2: is never more than its team has, and the note says so', () => {
    const seconds = fc.option(fc.double({ min: 0.1, max: 3_000, noNaN: true }), {
      nil: undefined,
    });
    fc.assert(
      fc.property(seconds, seconds, (timeout, member_timeout) => {
        const setup = resolveTeam(
          {
            ...(timeout !== undefined && { timeout }),
            ...(member_timeout !== undefined && { member_timeout }),
          },
          'writer',
          registry,
        );
        expect(setup.member_timeout).toBe(Math.min(member_timeout ?? 400, timeout ?? 1_200));
        expect(setup.notes).toHaveLength((member_timeout ?? 0) > (timeout ?? 1_200) ? 1 : 0);
      }),
    );
  });

  it("case 5.1: a member timeout over the team's is lowered to it, and that is said", () => {
    const { timeout, member_timeout, notes } = resolveTeam(
      { timeout: 60, member_timeout: 120 },
      'writer',
      registry,
    );
    expect({ timeout, member_timeout }).toEqual({ timeout: 60, member_timeout: 60 });
    expect(notes).toEqual([
      'member_timeout was lowered from 120 s to 60 s: the whole team has no more time.',
    ]);
  });
});

it('TRS3: equal members have one executor, others another', () => {
  const members = peers('writer', 'writer', 'writer');
  const executors = [
    seatOf({ id: 'writer' }),
    seatOf({ id: 'desk', agent_id: 'desk' }),
    seatOf({ id: 'desk', team_id: 'desk' }),
    seatOf({ id: 'desk', triad: { type: 'consensus', reason: 'r', members } }),
    seatOf({ id: 'desk', triad: { type: 'dialectic', reason: 'r', members } }),
  ].map((seat) => seat?.executor_id);
  expect(new Set(executors).size).toBe(executors.length);
  expect(seatOf({ id: 'ann', agent_id: 'writer' })?.executor_id).toBe(executors[0]);
});

it('a definition is the one of its name, or the plan itself', () => {
  const plan = { members: [{ id: 'writer' }] };
  expect(findDefinition(plan, [desk])).toBe(plan);
  expect(findDefinition({ team_id: 'desk' }, [desk])).toBe(desk);
  expect(findDefinition({ team_id: 'news' }, [desk])).toBeNull();
});

describe('who leads', () => {
  const agents = ['leader', 'planner', 'writer'].map((agent_id) => ({ agent_id }));
  it('TLD1: the one that is named, else the shipped one, else the first there is', () => {
    expect(chooseLeader({ leader: 'writer' }, agents)).toBe('writer');
    expect(chooseLeader({}, agents)).toBe('leader');
    expect(chooseLeader({}, agents.slice(1))).toBe('writer');
  });

  it('TLD2: never the planner by default', () => {
    expect(chooseLeader({}, [{ agent_id: 'planner' }])).toBe('');
  });
});
