import * as fc from 'fast-check';
import type { AgentSummary } from '../../../contracts/agent-definition.ts';
import type { NamedTeam } from '../../../contracts/team.ts';
import { defaultTeam } from '../../../core/limits.ts';
import { checkTeam, checkNamedTeams } from '../../../core/team/check-team.ts';
import { findTeamRings, summariseTeams } from '../../../core/team/summarise-teams.ts';
import { property } from './builders.ts';
import type { TeamContext, TeamDraft } from '../../../core/team/summarise-teams.ts';
import type { TriadPlan } from '../../../contracts/triad.ts';

const agents: AgentSummary[] = ['leader', 'planner', 'researcher', 'writer'].map((agent_id) => ({
  agent_id,
  allowed_tools: [],
  risk_level: 'low',
}));

const context: TeamContext = {
  agents,
  triads: true,
  models: [],
  leaderModels: ['big', 'small'],
  teams: [
    { team_id: 'desk', depth: 1, leader: 'leader' },
    { team_id: 'tower', depth: 3, leader: 'leader' },
  ],
  middlewares: [
    { name: 'redact', kind: 'middleware', stages: ['input', 'output'] },
    { name: 'size', kind: 'middleware', stages: ['output'] },
    { name: 'orders', kind: 'guardrail', stages: ['input'] },
  ],
};

const triad: TriadPlan = {
  type: 'consensus',
  reason: 'r',
  members: ['a', 'b', 'c'].map((name) => ({ name, role: 'peer', agent_id: 'writer' })),
};

const good: TeamDraft = {
  members: [{ id: 'researcher' }, { id: 'ann', agent_id: 'writer' }],
};

const check = (team: TeamDraft, around: Partial<TeamContext> = {}) =>
  checkTeam({ ...good, ...team }, { ...context, ...around }, '');

const told = (team: TeamDraft, around: Partial<TeamContext> = {}) =>
  check(team, around).map(({ path, reason, hint }) => `${path}: ${reason}. ${hint}`);

it('a good team has no faults', () => {
  expect(check({})).toEqual([]);
  const members = [
    { id: 'researcher', capabilities: ['ann'] },
    { id: 'ann', agent_id: 'writer', enabled: false, priority: -1.5 },
    { id: 'three', triad },
    { id: 'desk', team_id: 'desk' },
  ];
  const functions = {
    input_middlewares: ['redact'],
    output_middlewares: ['size', 'redact'],
    guardrails: { input: ['orders'] },
  };
  expect(check({ members, leader: 'writer', model: 'big', ...functions })).toEqual([]);
});

describe('TCK1: how many members', () => {
  it.each<[string, TeamDraft]>([
    ['none named', { members: undefined }],
    ['an empty list', { members: [] }],
  ])('case 5.3: a team without members is refused: %s', (_name, team) => {
    expect(told(team)).toEqual([
      'members: the team has no members, so no task could be done. Try: at least one, as {"id":"leader"}',
    ]);
  });

  it('TCK1: at most 20, and one of them enabled', () => {
    const members = Array.from({ length: 21 }, (_, i) => ({ id: `m${i}`, agent_id: 'writer' }));
    expect(check({ members: members.slice(1) })).toEqual([]);
    expect(told({ members })[0]).toMatch(
      /^members: the team has 21 members, the limit is 20\. Try:/,
    );
    const disabled = [{ id: 'writer', enabled: false }];
    expect(told({ members: disabled })[0]).toMatch(/^members: every member is disabled.*Try:/);
    expect(check({ members: [...disabled, { id: 'researcher' }] })).toEqual([]);
  });
});

it('TCK2: an id belongs to one member', () => {
  const members = [
    { id: 'writer' },
    { id: 'ann', agent_id: 'writer' },
    { id: 'ann', team_id: 'desk' },
  ];
  expect(told({ members })).toEqual([
    'members[2].id: "ann" is the id of members[1] already. Try: an id of its own for each member; who it is may stand in agent_id',
  ]);
  expect(check({ members: [{ id: 'writer' }, { id: 'writer', bare: true }] })[0]?.path).toBe(
    'members[1]',
  );
});

describe('TCK3: who a member is', () => {
  it.each([
    [{ id: 'ann' }, 'members[0].id: there is no agent "ann". Try: one of "leader", "researcher"'],
    [{ id: 'ann', bare: true }, 'members[0]: there is no agent "ann"'],
    [{ id: 'planner' }, 'members[0].id: the planner plans and decides; it is no executor'],
    [{ id: 'a', agent_id: 'bob' }, 'members[0].agent_id: there is no agent "bob"'],
    [{ id: 'a', agent_id: 'planner' }, 'members[0].agent_id: the planner plans'],
    [
      { id: 'a', team_id: 'news' },
      'members[0].team_id: there is no team "news". Try: one of "desk"',
    ],
    [
      { id: 'a', agent_id: 'writer', team_id: 'desk' },
      'members[0]: a member is an agent, a triad or a team, and this one has agent_id and team_id. Try: keep agent_id alone',
    ],
    [
      { id: 'a', triad, team_id: 'desk' },
      'members[0]: a member is an agent, a triad or a team, and this one has triad and team_id. Try: keep triad alone',
    ],
  ])('case 5.4: %j is refused', (member, text) => {
    const faults = told({ members: [member, { id: 'writer' }] });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(text);
  });

  it('TCK3: no team is advised to be a member of itself', () => {
    const members = [{ id: 'a', team_id: 'news' }];
    expect(told({ team_id: 'desk', members })).toEqual([
      'members[0].team_id: there is no team "news". Try: one of "tower"',
    ]);
    const alone = [{ team_id: 'desk', depth: 1, leader: 'leader' }];
    expect(told({ team_id: 'desk', members }, { teams: alone })).toEqual([
      'members[0].team_id: there is no team "news". Try: an agent_id; there are no other teams',
    ]);
  });

  it('TCK3: a triad holds, and is allowed', () => {
    const member = { ...triad.members[0], name: 'a', role: 'critic' as const, agent_id: 'nobody' };
    const broken = { ...triad, members: [member, ...triad.members.slice(1)] };
    expect(check({ members: [{ id: 'a', triad: broken }] }).map(({ path }) => path)).toEqual([
      'members[0].triad.members[0].role',
      'members[0].triad.members[0].agent_id',
    ]);
    const twice = [{ section_id: 's' }, { section_id: 's' }];
    expect(check({ members: [{ id: 'a', triad: { ...triad, sections: twice } }] })[0]?.path).toBe(
      'members[0].triad.sections[1].section_id',
    );
    expect(told({ members: [{ id: 'a', triad }] }, { triads: false })[0]).toMatch(
      /^members\[0\]\.triad: this run does without triads\. Try:/,
    );
  });
});

describe('TCK4: limits', () => {
  const names = [
    'max_parallel',
    'max_delegations',
    'timeout',
    'member_timeout',
    'max_retries',
  ] as const;
  it.each(names)('case 5.2: %s that nobody could work with is refused', (name) => {
    const bad = [-1, NaN, Infinity, -Infinity, 1e9, ...(name === 'max_retries' ? [] : [0])];
    for (const value of bad) {
      const [fault, ...others] = check({ [name]: value });
      expect(others).toEqual([]);
      expect(fault?.path).toBe(name);
      expect(fault?.reason).toContain(`received ${value}`);
      expect(fault?.hint).toMatch(/^Try: \d+, or leave it out$/);
    }
    expect(check({ [name]: defaultTeam[name] })).toEqual([]);
  });

  it('TCK4: seconds may be fractions, counts may not, and retries may be none', () => {
    expect(check({ timeout: 1.5, member_timeout: 1, max_retries: 0 })).toEqual([]);
    expect(told({ timeout: 0.5, member_timeout: 0.001 })).toEqual([
      'timeout: expected a number from 1 to 1000000 (seconds), received 0.5. Try: 1200, or leave it out',
      'member_timeout: expected a number from 1 to 1000000 (seconds), received 0.001. Try: 400, or leave it out',
    ]);
    const fractions = { max_parallel: 1.5, max_delegations: 2.5, max_retries: 0.5 };
    expect(check(fractions).map(({ path }) => path)).toEqual(Object.keys(fractions));
    expect(told({ max_parallel: 51 })).toEqual([
      'max_parallel: expected a whole number from 1 to 50 (members at work), received 51. Try: 50, or leave it out',
    ]);
  });
});

it('TCK5: leader, model and functions are ones that there are', () => {
  expect(told({ leader: 'boss', model: 'huge' })).toEqual([
    'leader: there is no agent "boss". Try: one of "leader", "researcher", "writer"',
    'model: this run knows no model "huge". Try: leave it out, for the leader\'s own, or one of "big", "small"',
  ]);
  expect(check({ leader: 'planner' })[0]?.path).toBe('leader');
  expect(check({ model: 'huge' }, { leaderModels: null })).toEqual([]);
  const functions = {
    input_middlewares: ['redact', 'size'],
    output_middlewares: ['orders'],
    guardrails: { input: ['redact'], output: ['orders'] },
  };
  expect(told(functions)).toEqual([
    'input_middlewares[1]: the worker has no middleware "size" for the input of a team. Try: leave it out, or one of "redact"',
    'output_middlewares[0]: the worker has no middleware "orders" for the output of a team. Try: leave it out, or one of "redact", "size"',
    'guardrails.input[0]: the worker has no guardrail "redact" for the input of a team. Try: leave it out, or one of "orders"',
    'guardrails.output[0]: the worker has no guardrail "orders" for the output of a team. Try: leave it out',
  ]);
});

it('TCK6: teams in one another are at most three deep', () => {
  expect(told({ members: [{ id: 'writer' }, { id: 'x', team_id: 'tower' }] })).toEqual([
    'members[1].team_id: with "tower" teams would be 4 deep in one another, the limit is 3. Try: take members of the lower teams into a higher one',
  ]);
});

it('TCK7: part of fault 28: all faults come together, and none for what could not be read', () => {
  const members = [
    { id: 'nobody' },
    { id: 'writer' },
    { id: 'writer' },
    { id: 'eve', unread: ['agent_id'] },
    { agent_id: 'bob', unread: ['id'] },
    {},
  ];
  const faults = check({ members, max_parallel: 0, timeout: -1, leader: 'boss', model: 'huge' });
  expect(faults.map(({ path }) => path)).toEqual([
    'members[0].id',
    'members[4].agent_id',
    'members[2].id',
    'max_parallel',
    'timeout',
    'leader',
    'model',
  ]);
  for (const { hint } of faults) expect(hint).toMatch(/^Try: /);
  expect(check({ members: undefined, unread: ['members'] })).toEqual([]);
});

const team = (team_id: string, ...below: readonly string[]): NamedTeam => ({
  team_id,
  members: [{ id: 'writer' }, ...below.map((id) => ({ id, team_id: id }))],
});

const together = (...teams: readonly TeamDraft[]) =>
  checkNamedTeams(
    teams.map((draft, i) => ({ draft, at: `teams[${i}].` })),
    context,
  ).map(({ path, reason }) => `${path}: ${reason}`);

describe('teams with names', () => {
  it('TNM1: each has a name of its own', () => {
    expect(together(team('a'), team('b'), team('a'))).toEqual([
      'teams[2].team_id: "a" is the name of another team already',
    ]);
    const { team_id: _name, ...nameless } = team('a');
    expect(together(nameless, nameless)).toEqual([]);
  });

  it('TNM2: part of fault 29: teams that contain each other are refused, and the cycle is shown', () => {
    expect(together(team('a', 'b'), team('b', 'c'), team('c', 'a'), team('d', 'd'))).toEqual([
      'teams[2].members[1].team_id: these teams contain each other: a→b→c→a',
      'teams[3].members[1].team_id: these teams contain each other: d→d',
    ]);
  });

  it('are refused where they are too deep, by the team that is', () => {
    const chain = [team('a', 'b'), team('b', 'c'), team('c', 'd'), team('d')];
    expect(together(...chain.slice(1))).toEqual([]);
    expect(together(...chain)).toEqual([
      'teams[0].members[1].team_id: with "b" teams would be 4 deep in one another, the limit is 3',
    ]);
  });
});

const anyTeams = fc
  .array(fc.uniqueArray(fc.nat(6), { maxLength: 4 }), { minLength: 1, maxLength: 7 })
  .map((lists) => lists.map((below, i) => team(`t${i}`, ...below.map((id) => `t${id}`))));

it('TSM1: a team is a level deeper than the deepest of its members', () => {
  fc.assert(
    fc.property(anyTeams, (teams) => {
      fc.pre(findTeamRings(teams).length === 0);
      const summaries = summariseTeams(teams, agents);
      const depthOf = (id: string | undefined) =>
        summaries.find(({ team_id }) => team_id === id)?.depth ?? 0;
      for (const { team_id, members = [] } of teams) {
        expect(depthOf(team_id)).toBe(1 + Math.max(...members.map((one) => depthOf(one.team_id))));
      }
    }),
    property,
  );
  expect(summariseTeams([team('a'), { ...team('b', 'a'), leader: 'writer' }], agents)).toEqual([
    { team_id: 'a', depth: 1, leader: 'leader', agents: ['leader', 'writer'] },
    { team_id: 'b', depth: 2, leader: 'writer', agents: ['writer', 'leader'] },
  ]);
});

it('TSM2: every ring is one, and without their last links there is none', () => {
  fc.assert(
    fc.property(anyTeams, (teams) => {
      const rings = findTeamRings(teams);
      const cut = teams.map((one) => ({
        ...one,
        members: (one.members ?? []).filter(
          ({ team_id }) =>
            !rings.some((ring) => ring.at(-2) === one.team_id && ring.at(-1) === team_id),
        ),
      }));
      for (const ring of rings) {
        expect(ring.at(-1)).toBe(ring[0]);
        ring.slice(1).forEach((id, i) => {
          const above = teams.find(({ team_id }) => team_id === ring[i]);
          expect(above?.members?.map(({ team_id }) => team_id)).toContain(id);
        });
      }
      expect(findTeamRings(cut)).toEqual([]);
      for (const { depth } of summariseTeams(teams, agents)) {
        expect(depth).toBeLessThanOrEqual(teams.length);
      }
    }),
    property,
  );
});
