import * as fc from 'fast-check';
import type { AgentSummary, Brought, ToolProperty } from '../../../contracts/agent-definition.ts';
import type {
  DelegationOutline,
  ExecutorOf,
  ExecutorOutline,
} from '../../../contracts/delegation.ts';
import type { TeamOutline, TeamSummary } from '../../../contracts/team.ts';
import { applyRuleOfTwo, bringsOfTools, listGuarded } from '../../../core/plan/rule-of-two.ts';
import { summariseTeams } from '../../../core/team/summarise-teams.ts';
import { delegation, plan, property } from './builders.ts';

const properties: readonly ToolProperty[] = ['untrusted_text', 'private_data', 'acts_outside'];
const travelling = ['untrusted_text', 'private_data'] as const;

const agentOf = (agent_id: string, ...has: readonly ToolProperty[]): AgentSummary => ({
  agent_id,
  allowed_tools: [],
  risk_level: 'low',
  ...(has.length > 0 && {
    brings: Object.fromEntries(has.map((one) => [one, `tool-${one}`])) satisfies Brought,
  }),
});

const surfer = agentOf('surfer', 'untrusted_text');
const insider = agentOf('insider', 'private_data');
const sender = agentOf('sender', 'acts_outside');
const clerk = agentOf('clerk', 'private_data', 'acts_outside');
const everything = agentOf('everything', ...properties);
const plain = agentOf('plain');
const agents = [surfer, insider, sender, clerk, everything, plain];
const context = { agents, teams: null };

const by = (id: string, agent_id: string, over: Partial<DelegationOutline> = {}) =>
  delegation(id, { agent_id, ...over });

const guardedIn = (
  delegations: readonly DelegationOutline[],
  over: Partial<Parameters<typeof applyRuleOfTwo>[1]> = {},
): string[] =>
  listGuarded(applyRuleOfTwo(plan(delegations), { ...context, ...over }).plan.delegations).map(
    ({ delegation_id }) => delegation_id,
  );

const triad = (...ids: readonly string[]): ExecutorOf<ExecutorOutline, 'triad'> => ({
  kind: 'triad',
  type: 'dialectic',
  reason: 'r',
  members: ids.map((agent_id) => ({ name: agent_id, agent_id, role: 'worker', capability: 'c' })),
  sections: [],
});

const team = (...members: NonNullable<TeamOutline['members']>): ExecutorOutline => ({
  kind: 'team',
  members,
});

describe('RTW1: a delegation has the properties of all its agents', () => {
  it('one agent with all three is guarded, one with two is not', () => {
    expect(guardedIn([by('a', 'everything'), by('b', 'clerk'), by('c', 'plain')])).toEqual(['a']);
  });

  it('a triad has those of its members together', () => {
    expect(
      guardedIn([by('a', 'surfer', { executor: triad('surfer', 'insider', 'sender') })]),
    ).toEqual(['a']);
    expect(
      guardedIn([by('a', 'surfer', { executor: triad('surfer', 'insider', 'plain') })]),
    ).toEqual([]);
  });

  it('a team has those of its leader and members, also of the triads and teams among them', () => {
    const desk = { team_id: 'desk', depth: 1, leader: 'plain', agents: ['plain', 'sender'] };
    const teams: TeamSummary[] = [desk];
    const members = [{ id: 'insider' }, { id: 'x', agent_id: 'sender' }];
    expect(guardedIn([by('a', 'surfer', { executor: team(...members) })])).toEqual(['a']);
    expect(guardedIn([by('a', 'plain', { executor: team(...members) })])).toEqual([]);
    const nested = team({ id: 'insider' }, { id: 'd', team_id: 'desk' });
    expect(guardedIn([by('a', 'surfer', { executor: nested })], { teams })).toEqual(['a']);
    const three = team({ id: 't', triad: triad('insider', 'sender', 'plain') });
    expect(guardedIn([by('a', 'surfer', { executor: three })])).toEqual(['a']);
    // The team is known, and none of its agents has private data.
    const named: DelegationOutline['executor'] = { kind: 'team', team_id: 'desk' };
    expect(guardedIn([by('a', 'surfer', { executor: named })], { teams })).toEqual([]);
  });

  it('a team whose agents are unknown counts as all agents but the planner', () => {
    const executor: DelegationOutline['executor'] = { kind: 'team', team_id: 'desk' };
    const ofPlanner = [agentOf('planner', ...properties), plain];
    expect(guardedIn([by('a', 'plain', { executor })])).toEqual(['a']);
    expect(guardedIn([by('a', 'plain', { executor })], { agents: ofPlanner })).toEqual([]);
  });

  it('an agent has the first tool that brings a property', () => {
    const tools = { web: ['untrusted_text'], look: ['private_data', 'untrusted_text'] } as const;
    expect(bringsOfTools(['web', 'look', 'unknown'], tools)).toEqual({
      untrusted_text: 'web',
      private_data: 'look',
    });
  });
});

describe('RTW2: untrusted text and private data travel with results, acting does not', () => {
  it('along dependencies, over any number of delegations', () => {
    const chain = [
      by('a', 'surfer'),
      by('b', 'plain', { depends_on: ['a'] }),
      by('c', 'clerk', { depends_on: ['b'] }),
      by('d', 'clerk'),
    ];
    expect(guardedIn(chain)).toEqual(['c']);
    expect(guardedIn([by('a', 'sender'), by('b', 'surfer', { depends_on: ['a'] })])).toEqual([]);
  });

  it('along required inputs, by the id or a name that is produced', () => {
    const producer = by('a', 'surfer', { produces: ['pages'] });
    expect(guardedIn([producer, by('b', 'clerk', { required_inputs: ['pages'] })])).toEqual(['b']);
    expect(guardedIn([producer, by('b', 'clerk', { required_inputs: ['a'] })])).toEqual(['b']);
    expect(guardedIn([producer, by('b', 'clerk', { required_inputs: ['other'] })])).toEqual([]);
  });

  it('from every earlier wave, whatever lies between', () => {
    const first = applyRuleOfTwo(plan([by('a', 'surfer')]), context);
    expect(first.taint).toEqual({ untrusted_text: 'tool-untrusted_text of a' });
    const second = applyRuleOfTwo(plan([by('b', 'plain')]), { ...context, ...first });
    const third = applyRuleOfTwo(plan([by('c', 'clerk')]), { ...context, ...second });
    expect(listGuarded(third.plan.delegations)).toEqual([
      {
        delegation_id: 'c',
        rule_of_two:
          'reads untrusted text (tool-untrusted_text of a), has private data (tool-private_data) and acts outside (tool-acts_outside)',
      },
    ]);
    expect(applyRuleOfTwo(plan([by('a', 'plain')]), context)).not.toHaveProperty('taint');
  });
});

it('RTW4: a cycle ends, and a name that nothing produces leads nowhere', () => {
  const ring = [
    by('a', 'surfer', { depends_on: ['b', 'missing'] }),
    by('b', 'clerk', { depends_on: ['a'] }),
  ];
  expect(guardedIn(ring)).toEqual(['b']);
});

it('TSM3: a team is all its agents, those of triads and of teams below it included, each once', () => {
  const members = [
    { id: 'writer' },
    { id: 'b', agent_id: 'critic' },
    { id: 'news', team_id: 'news' },
    { id: 't', triad: { type: 'dialectic', members: triadMembers('anna', 'critic') } },
  ] as const;
  const teams = [
    { team_id: 'desk', leader: 'chief', members },
    { team_id: 'news', members: [{ id: 'surfer' }] },
  ];
  expect(summariseTeams(teams, [{ agent_id: 'leader' }])[0]?.agents).toEqual([
    'chief',
    'writer',
    'critic',
    'anna',
    'leader',
    'surfer',
  ]);
});

function triadMembers(...ids: readonly string[]) {
  return ids.map((agent_id) => ({
    name: agent_id,
    agent_id,
    role: 'worker' as const,
    capability: 'c',
  }));
}

/** The same rule as plainly as possible: properties are copied along links until nothing changes. */
function guardedByReference(
  delegations: readonly DelegationOutline[],
  earlier: readonly ToolProperty[],
): Set<string> {
  const has = new Map(
    delegations.map(({ delegation_id, agent_id }) => {
      const brings = agents.find((agent) => agent.agent_id === agent_id)?.brings ?? {};
      return [delegation_id, new Set([...properties.filter((one) => one in brings), ...earlier])];
    }),
  );
  const links = delegations.flatMap((to) =>
    delegations.filter((from) => isLinked(from, to)).map((from) => [from, to] as const),
  );
  // No path is longer than the plan.
  for (let round = 0; round < delegations.length; round += 1) {
    for (const [from, to] of links) {
      for (const one of travelling) {
        if (has.get(from.delegation_id)?.has(one)) has.get(to.delegation_id)?.add(one);
      }
    }
  }
  return new Set([...has].filter(([, all]) => all.size === 3).map(([id]) => id));
}

function isLinked(from: DelegationOutline, to: DelegationOutline): boolean {
  const names = [from.delegation_id, ...from.produces];
  return (
    to.depends_on.includes(from.delegation_id) ||
    to.required_inputs.some((name) => names.includes(name))
  );
}

it('RTW3: in any plan exactly those with all three properties are guarded', () => {
  const ids = ['a', 'b', 'c', 'd', 'e', 'f'];
  const links = fc.subarray(ids, { maxLength: 2 });
  const anyDelegation = fc.record({
    agent_id: fc.constantFrom(...agents.map((agent) => agent.agent_id)),
    depends_on: links,
    required_inputs: links,
    produces: fc.constantFrom<string[]>([], ['x']),
  });
  const anyPlan = fc.array(anyDelegation, { maxLength: ids.length });
  let guardedSeen = 0;
  fc.assert(
    fc.property(anyPlan, fc.subarray([...travelling]), (all, earlier) => {
      const delegations = all.map((one, i) => delegation(ids[i] ?? '', one));
      const taint = Object.fromEntries(earlier.map((one) => [one, 'an earlier wave']));
      const ruled = applyRuleOfTwo(plan(delegations), { ...context, taint });
      const guarded = listGuarded(ruled.plan.delegations);
      guardedSeen += guarded.length;
      expect(new Set(guarded.map((one) => one.delegation_id))).toEqual(
        guardedByReference(delegations, earlier),
      );
      for (const { rule_of_two } of guarded)
        expect(rule_of_two.match(/\([^)]+\)/g)).toHaveLength(3);
    }),
    property,
  );
  expect(guardedSeen).toBeGreaterThan(100);
});
