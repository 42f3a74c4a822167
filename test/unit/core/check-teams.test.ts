import type { AgentSummary } from '../../../contracts/agent-definition.ts';
import type { DelegationOutline } from '../../../contracts/delegation.ts';
import { checkExecutors } from '../../../core/plan/check-executors.ts';
import type { ExecutorContext } from '../../../core/plan/check-executors.ts';
import type { TeamOutline } from '../../../contracts/team.ts';
import { onlyLeads } from '../../../core/team/summarise-teams.ts';
import { checkPlan } from '../../../core/plan/check-plan.ts';
import { defaultLimits } from '../../../core/limits.ts';
import { delegation, plan } from './builders.ts';

const context: ExecutorContext = {
  agents: ['leader', 'planner', 'researcher', 'writer'].map((agent_id): AgentSummary => ({
    agent_id,
    allowed_tools: [],
    risk_level: 'low',
    ...(agent_id === 'leader' && { only_leads: true }),
  })),
  triads: true,
  models: [],
  teams: [{ team_id: 'desk', depth: 1, leader: 'writer' }],
};

const team: TeamOutline = { members: [{ id: 'researcher' }, { id: 'desk', team_id: 'desk' }] };

const by = (party: TeamOutline): Pick<DelegationOutline, 'executor'> => ({
  executor: { kind: 'team', ...party },
});

const told = (over: Partial<DelegationOutline>, around: Partial<ExecutorContext> = {}) =>
  checkExecutors([delegation('a'), delegation('b', { agent_id: 'leader', ...over })], {
    ...context,
    ...around,
  }).map(({ path, reason, hint }) => `${path}: ${reason}. ${hint}`);

it('a good team has no faults, whether it is put together or named', () => {
  expect(told(by(team))).toEqual([]);
  expect(told({ ...by({ team_id: 'desk' }), agent_id: 'writer' })).toEqual([]);
});

it('PTS1: where teams are not allowed, there is none', () => {
  expect(told(by({ team_id: 'news', members: [] }), { teams: null })).toEqual([
    'delegations[1].team: this run does without teams. Try: leave team out; then the agent works alone',
  ]);
});

it('PTS5: finding C4: an agent that only leads gets no delegation without a team', () => {
  expect(told({}, { teams: null })).toEqual([
    'delegations[1].agent_id: "leader" only leads teams, and this run does without teams. Try: one of "researcher", "writer"',
  ]);
  expect(told({})).toEqual([
    'delegations[1].agent_id: "leader" only leads teams, and this delegation has no team. Try: a team with members, or one of "researcher", "writer"',
  ]);
});

it('OLD1: an agent only leads when all it can do belongs to leading', () => {
  const able = [['leading', 'delegation'], ['leading', 'writing'], ['delegation'], []];
  expect(able.map((capabilities) => onlyLeads({ capabilities }))).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

it('PTS3: a named team is one that there is, comes alone, and is led by the agent', () => {
  expect(told(by({ team_id: 'news' }))).toEqual([
    'delegations[1].team.team_id: there is no team "news". Try: one of "desk"',
  ]);
  expect(told(by({ team_id: 'news' }), { teams: [] })).toEqual([
    'delegations[1].team.team_id: there is no team "news". Try: members instead of team_id',
  ]);
  expect(told(by({ team_id: 'desk', timeout: 9 }))).toEqual([
    'delegations[1].agent_id: the team "desk" is led by another agent. Try: "writer"',
    'delegations[1].team: a team with a name brings all that it needs, and here stands "timeout" too. Try: team_id alone, or no team_id',
  ]);
});

it('PTS4: a team of the plan keeps what every team keeps', () => {
  const bad = { members: [{ id: 'nobody' }, { id: 'x', team_id: 'news' }], max_parallel: 0 };
  const path = 'delegations[1].team';
  expect(told(by(bad)).map((text) => text.split(':')[0])).toEqual([
    `${path}.members[0].id`,
    `${path}.members[1].team_id`,
    `${path}.max_parallel`,
  ]);
  const deep = [{ team_id: 'desk', depth: 3, leader: 'writer' }];
  expect(told(by(team), { teams: deep })).toEqual([
    expect.stringContaining('teams would be 4 deep in one another'),
  ]);
});

it('is part of what a plan is checked for', () => {
  const faults = checkPlan(
    plan([delegation('a', { agent_id: 'planner', ...by({ members: [] }) })]),
    {
      ...context,
      criteria: [],
      known_inputs: [],
      delegation_ids: [],
      fingerprints: {},
      answered_questions: [],
      stale: [],
      limits: defaultLimits,
    },
  );
  expect(faults.map(({ path }) => path)).toEqual([
    'delegations[0].agent_id',
    'delegations[0].team.members',
  ]);
});
