import * as fc from 'fast-check';
import type { AgentSummary } from '../../../contracts/agent-definition.ts';
import { plannerAgentId } from '../../../contracts/names.ts';
import type { DelegationOutline } from '../../../contracts/delegation.ts';
import { collectUpstream } from '../../../core/schedule/dependencies.ts';
import { checkPlan } from '../../../core/plan/check-plan.ts';
import type { PlanContext } from '../../../core/plan/check-plan.ts';
import { fingerprintDelegation } from '../../../core/plan/check-repetition.ts';
import { defaultLimits } from '../../../core/limits.ts';
import { asked, criterion, delegation, plan, property } from './builders.ts';
import { TriadType } from '../../../contracts/triad.ts';
import { Slug } from '../../../contracts/agent-definition.ts';

const agent = (agent_id: string): AgentSummary => ({
  agent_id,
  allowed_tools: [],
  risk_level: 'low',
});

const context: PlanContext = {
  agents: [agent('planner'), agent('researcher'), agent('writer')],
  criteria: [],
  known_inputs: ['goal', 'brief'],
  delegation_ids: ['earlier'],
  fingerprints: {},
  stale: [],
  answered_questions: [],
  triads: true,
  teams: [],
  models: [],
  limits: defaultLimits,
};

const check = (delegations: readonly DelegationOutline[], over: Partial<PlanContext> = {}) =>
  checkPlan(plan(delegations), { ...context, ...over });

const paths = (delegations: readonly DelegationOutline[], over: Partial<PlanContext> = {}) =>
  check(delegations, over).map((fault) => fault.path);

describe('checkPlan', () => {
  it('a good plan has no faults', () => {
    const good = [
      delegation('d1', { required_inputs: ['goal'], provided_inputs: ['goal'], produces: ['p'] }),
      delegation('d2', { depends_on: ['d1'], required_inputs: ['p', 'd1'] }),
      delegation('d3', { depends_on: ['d2'], required_inputs: ['p'], agent_id: 'writer' }),
      delegation('d4', { provided_inputs: ['brief'] }),
    ];
    expect(check(good)).toEqual([]);
  });

  it('P1: an empty plan needs a question, and the flag that says so', () => {
    expect(checkPlan(plan([]), context).map((f) => f.path)).toEqual(['delegations']);
    const asks = plan([], { needs_user_input: true, user_questions: [asked()] });
    expect(checkPlan(asks, context)).toEqual([]);
    const flagOnly = plan([], { needs_user_input: true });
    expect(checkPlan(flagOnly, context).map((f) => f.path)).toEqual(['user_questions']);
    const questionOnly = plan([delegation('d1')], { user_questions: [asked()] });
    expect(checkPlan(questionOnly, context).map((f) => f.path)).toEqual(['needs_user_input']);
  });

  it('P2: an unknown agent is answered with the valid ones, the planner is none', () => {
    const [unknown] = check([delegation('d1', { agent_id: 'reseacher' })]);
    expect(unknown?.path).toBe('delegations[0].agent_id');
    expect(unknown?.hint).toBe('Try: one of "researcher", "writer"');
    const [planner] = check([delegation('d1', { agent_id: plannerAgentId })]);
    expect(planner?.reason).toContain('no executor');
  });

  it('P3: ids are slugs and new in the whole run', () => {
    const at = 'delegations[0].delegation_id';
    expect(paths([delegation('D 1')])).toContain(at);
    expect(check([delegation('Über Markt')])[0]?.hint).toBe('Try: "ber-markt"');
    expect(paths([delegation('earlier')])).toEqual([at]);
    expect(paths([delegation('d1'), delegation('d1')])).toEqual(['delegations[1].delegation_id']);
    expect(check([delegation('../../etc')])[0]?.hint).toBe('Try: "etc"');
  });

  it('P3: what is a slug here is one in the contracts, and the other way round', () => {
    const anyId = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', 'Z', '0', '-', '_', '.', '/', 'é'), maxLength: 42 }),
      fc.constantFrom('a'.repeat(40), 'a'.repeat(41), '', '-a', '_a', 'a\n'),
    );
    fc.assert(
      fc.property(anyId, (id) => {
        const isRefused = paths([delegation(id)]).includes('delegations[0].delegation_id');
        expect(isRefused).toBe(!Slug.safeParse(id).success);
      }),
      property,
    );
  });

  it('P4: dependencies exist in the plan, and none is on itself', () => {
    expect(check([delegation('d1', { depends_on: ['d1'] })])[0]?.reason).toContain('itself');
    const [unknown] = check([delegation('d1', { depends_on: ['dx'] }), delegation('d2')]);
    expect(unknown?.reason).toContain('no delegation "dx"');
    expect(unknown?.hint).toBe('Try: one of "d2", or leave it out');
    const [earlier] = check([delegation('d1', { depends_on: ['earlier'] })]);
    expect(earlier?.reason).toContain('earlier wave');
    expect(earlier?.hint).toContain('provided_inputs');
  });

  it('P4: fault 29: a cycle is shown A→B→A, before any call', () => {
    const faults = check([
      delegation('a', { depends_on: ['b'] }),
      delegation('b', { depends_on: ['a'] }),
    ]);
    expect(faults).toHaveLength(1);
    expect(faults[0]?.reason).toContain('a→b→a');
  });

  it('P5: every delegation has criteria, each once, each with a valid id', () => {
    const at = 'delegations[0].acceptance_criteria';
    expect(paths([delegation('d1', { criterion_ids: [] })])).toEqual([at]);
    expect(paths([delegation('d1', { criterion_ids: ['c', 'c'] })])).toEqual([
      `${at}[1].criterion_id`,
    ]);
    expect(paths([delegation('d1', { criterion_ids: ['C 1'] })])).toEqual([
      `${at}[0].criterion_id`,
    ]);
  });

  it('P6: the plan keeps max_delegations', () => {
    const limits = { ...defaultLimits, max_delegations: 2 };
    const three = ['d1', 'd2', 'd3'].map((id) => delegation(id));
    expect(check(three, { limits })[0]?.reason).toContain('3 delegations, the limit is 2');
    expect(check(three.slice(0, 2), { limits })).toEqual([]);
  });

  it('P7: what is provided is known', () => {
    const [fault] = check([delegation('d1', { provided_inputs: ['prices'] })]);
    expect(fault?.path).toBe('delegations[0].provided_inputs[0]');
    expect(fault?.hint).toContain('"goal", "brief"');
  });

  it('P7: a required input that nobody gives is named, with the way to mend it', () => {
    expect(check([delegation('d1', { required_inputs: ['goal'] })])).toEqual([]);
    const elsewhere = check([
      delegation('d1', { produces: ['prices'] }),
      delegation('d2', { required_inputs: ['prices'] }),
    ]);
    expect(elsewhere[0]?.path).toBe('delegations[1].required_inputs[0]');
    expect(elsewhere[0]?.hint).toBe('Try: add "d1" to depends_on');
    const nobody = check([delegation('d1', { required_inputs: ['prices'], produces: ['prices'] })]);
    expect(nobody[0]?.reason).toContain('no other delegation produces it');
  });

  it('P8: a name is produced by one delegation only, and an id is a name', () => {
    const twice = [delegation('d1', { produces: ['p'] }), delegation('d2', { produces: ['p'] })];
    expect(check(twice)[0]?.reason).toBe('"p" is produced by "d1" too');
    expect(paths([delegation('d1', { produces: ['d2'] }), delegation('d2')])).toEqual([
      'delegations[0].produces[0]',
    ]);
    expect(check([delegation('d1', { produces: ['d1', 'p'] })])).toEqual([]);
  });

  it('P9: while criteria are open, the plan takes up one of them, not all', () => {
    const criteria = [criterion('goal-1'), criterion('goal-2'), criterion('old', 'met')];
    expect(check([delegation('d1')], { criteria })[0]?.reason).toContain('"goal-1", "goal-2"');
    const takes = delegation('d1', { criterion_ids: ['d1-done', 'goal-2'] });
    expect(check([takes], { criteria })).toEqual([]);
    const asks = plan([], { needs_user_input: true, user_questions: [asked()] });
    expect(checkPlan(asks, { ...context, criteria })).toEqual([]);
  });

  it('P10: the same agent, inputs and criteria are not sent a third time', () => {
    const again = delegation('d1', { fingerprint: 'f' });
    expect(check([again], { fingerprints: { f: 1 } })).toEqual([]);
    expect(check([again], { fingerprints: { f: 2 } })[0]?.reason).toContain(
      'ran twice without result',
    );
    const inside = ['d1', 'd2', 'd3'].map((id) => delegation(id, { fingerprint: 'f' }));
    expect(paths(inside)).toEqual(['delegations[2]']);
  });

  it('P10: what is stale may be done again as it was', () => {
    const again = delegation('d1', { fingerprint: 'f', redoes: 'earlier' });
    expect(check([again], { fingerprints: { f: 9 }, stale: ['earlier'] })).toEqual([]);
    expect(paths([again], { fingerprints: { f: 9 } })).toEqual([
      'delegations[0].redoes',
      'delegations[0]',
    ]);
  });

  it('P12: only what is stale is done again, each once', () => {
    const stale = ['old', 'older'];
    expect(
      check([delegation('d1', { redoes: 'old' }), delegation('d2', { redoes: 'older' })], {
        stale,
      }),
    ).toEqual([]);
    const faults = check(
      [
        delegation('d1', { redoes: 'old' }),
        delegation('d2', { redoes: 'old' }),
        delegation('d3', { redoes: 'fresh' }),
      ],
      { stale },
    );
    expect(faults.map(({ path }) => path)).toEqual([
      'delegations[1].redoes',
      'delegations[2].redoes',
    ]);
    expect(faults[1]?.hint).toContain('"old", "older"');
  });

  it('P11: all faults come at once, each with a hint', () => {
    const faults = check([
      delegation('X', { agent_id: 'nobody', criterion_ids: [], depends_on: ['X', 'Y'] }),
      delegation('X', { required_inputs: ['z'], provided_inputs: ['y'] }),
    ]);
    expect(faults.length).toBeGreaterThanOrEqual(8);
    for (const fault of faults) expect(fault.hint).toMatch(/^Try: /);
  });

  it('P11: a flood of faults is cut, and says so', () => {
    const many = Array.from({ length: 200 }, () => delegation('Bad Id', { agent_id: 'nobody' }));
    const faults = check(many);
    expect(faults).toHaveLength(60);
    expect(faults.at(-1)?.reason).toContain('more faults are not listed');
  });

  it('UP1: upstream is everything that can be reached, once, and never itself', () => {
    const all = [
      delegation('d1'),
      delegation('d2', { depends_on: ['d1', 'nowhere'] }),
      delegation('d3', { depends_on: ['d2', 'd1', 'd4'] }),
      delegation('d4', { depends_on: ['d3'] }),
      delegation('d5'),
    ];
    const byId = new Map(all.map((d) => [d.delegation_id, d]));
    const upstreamOf = (id: string) =>
      collectUpstream(delegation(id, byId.get(id)), byId).map((d) => d.delegation_id);
    expect(upstreamOf('d3')).toEqual(['d1', 'd2', 'd4']);
    expect(upstreamOf('d4')).toEqual(['d1', 'd2', 'd3']);
    expect(upstreamOf('d1')).toEqual([]);
  });

  const someWork = {
    agent_id: 'a',
    task_description: 'Compare the prices.',
    required_inputs: ['x'],
    criterion_ids: ['c1'],
    executor: { kind: 'agent' as const },
  };

  it('finding F11: another task is another fingerprint, the same one in other type is not', () => {
    const print = fingerprintDelegation(someWork);
    const other = { ...someWork, task_description: 'Compare the prices with tax.' };
    expect(fingerprintDelegation(other)).not.toBe(print);
    const same = { ...someWork, task_description: 'compare  the PRICES' };
    expect(fingerprintDelegation(same)).toBe(print);
  });

  it('F1: order and repetition do not change a fingerprint, content does', () => {
    const base = { ...someWork, required_inputs: ['x', 'y'], criterion_ids: ['c1', 'c2'] };
    const fingerprint = fingerprintDelegation(base);
    expect(
      fingerprintDelegation({
        ...base,
        required_inputs: ['y', 'x', 'x'],
        criterion_ids: ['c2', 'c1'],
      }),
    ).toBe(fingerprint);
    const others = [
      { ...base, agent_id: 'b' },
      { ...base, required_inputs: ['x'] },
      { ...base, criterion_ids: ['c1'] },
      { ...base, required_inputs: ['x', 'c1'], criterion_ids: ['y', 'c2'] },
    ];
    for (const other of others) expect(fingerprintDelegation(other)).not.toBe(fingerprint);
  });

  it('F2: an agent and each type of triad are different executors', () => {
    const base = someWork;
    const prints = [undefined, ...TriadType.options].map((type) =>
      fingerprintDelegation(
        type === undefined ? base : { ...base, executor: { kind: 'triad', type } },
      ),
    );
    expect(new Set(prints).size).toBe(4);
  });

  it('F3: a team is another executor than an agent, a triad and another team', () => {
    const base = someWork;
    const members = [{ id: 'ann', agent_id: 'b' }, { id: 'c' }];
    const prints = [
      { kind: 'agent' as const },
      { kind: 'triad' as const, type: 'dialectic' as const },
      { kind: 'team' as const, team_id: 'desk' },
      { kind: 'team' as const, team_id: 'news' },
      { kind: 'team' as const, members },
      { kind: 'team' as const, members: members.slice(1) },
      { kind: 'team' as const, members: [{ id: 'ann', team_id: 'b' }, { id: 'c' }] },
    ].map((executor) => fingerprintDelegation({ ...base, executor }));
    expect(new Set(prints).size).toBe(prints.length);
    const renamed = [{ id: 'c' }, { id: 'eve', agent_id: 'b' }];
    const executor = { kind: 'team' as const, members: renamed };
    expect(fingerprintDelegation({ ...base, executor })).toBe(prints[4]);
  });
});
