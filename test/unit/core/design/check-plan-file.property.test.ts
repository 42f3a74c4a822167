import * as fc from 'fast-check';
import type { CoordinationPlan, PlanTask } from '../../../../contracts/coordination-plan.ts';
import { checkCoordinationPlan } from '../../../../core/design/check-plan-file.ts';
import { planAgents, planTask, samplePlan, withTask } from '../../../support/plans.ts';

const check = (plan: CoordinationPlan): string[] =>
  checkCoordinationPlan(plan, { agents: planAgents }).map(({ rule }) => rule);

const { agents } = samplePlan();

/** Valid plans: each task builds on some of the earlier ones, in the order of their numbers. */
const plans: fc.Arbitrary<CoordinationPlan> = fc
  .array(fc.array(fc.nat(29), { maxLength: 4 }), { minLength: 1, maxLength: 30 })
  .map((links) => {
    const tasks = links.map((earlier, at): PlanTask => {
      const sources = [...new Set(earlier.filter((one) => one < at))];
      const base = planTask(`t${at}`, {
        agent: at % 2 === 0 ? 'database_agent' : 'api_agent',
      });
      return {
        ...base,
        depends_on: sources.map((one) => `t${one}_1727539200`),
        inputs: sources.map((one) => ({
          path: `agents/${one % 2 === 0 ? 'database_agent' : 'api_agent'}/task_output/t${one}.md`,
          format: 'Markdown',
          from: `t${one}_1727539200`,
        })),
      };
    });
    const busy = new Set([...tasks.map(({ agent }) => agent), 'reviewer_agent']);
    return samplePlan({ tasks, risks: [], agents: agents.filter((a) => busy.has(a.agent_name)) });
  });

/** Changes that make any valid plan wrong, each with the rules of which one must report it. */
const mutations: readonly [
  string,
  readonly string[],
  (plan: CoordinationPlan, at: number) => CoordinationPlan,
][] = [
  [
    'no evidence',
    ['DP19'],
    (plan, at) =>
      withTask(at, (task) => ({ validation: { ...task.validation, evidence: [] } }), plan),
  ],
  [
    'its own verifier',
    ['DP23'],
    (plan, at) =>
      withTask(
        at,
        (task) => ({ validation: { ...task.validation, verified_by: task.agent } }),
        plan,
      ),
  ],
  [
    'a lost dependency',
    ['DP6'],
    (plan, at) =>
      withTask(at, ({ depends_on }) => ({ depends_on: [...depends_on, 'no_1727539200'] }), plan),
  ],
  [
    'a cycle',
    ['DP6', 'DP7'],
    (plan, at) =>
      withTask(
        0,
        () => ({ depends_on: [plan.tasks[at]?.task_id ?? ''] }),
        withTask(at, ({ depends_on }) => ({ depends_on: [...depends_on, 't0_1727539200'] }), plan),
      ),
  ],
  ['no output', ['DP11'], (plan, at) => withTask(at, () => ({ outputs: [] }), plan)],
  ['an unknown agent', ['DP4'], (plan, at) => withTask(at, () => ({ agent: 'ghost' }), plan)],
  [
    'an id twice',
    ['DP1'],
    (plan, at) => ({ ...plan, tasks: [...plan.tasks, plan.tasks[at] ?? planTask('x')] }),
  ],
  [
    'a place outside',
    ['DP10'],
    (plan, at) => withTask(at, () => ({ outputs: [{ path: '../x', format: 'Markdown' }] }), plan),
  ],
  [
    'a hole',
    ['DP8'],
    (plan, at) => withTask(at, () => ({ instructions: 'Do {{task}} now.' }), plan),
  ],
];

describe('random plans', () => {
  it('valid ones have no finding', () => {
    fc.assert(
      fc.property(plans, (plan) => {
        expect(check(plan)).toEqual([]);
      }),
    );
  });

  it('mutated ones have the finding of the mutation', () => {
    fc.assert(
      fc.property(plans, fc.nat(), fc.constantFrom(...mutations), (plan, at, [, rules, mutate]) => {
        const found = check(mutate(plan, at % plan.tasks.length));
        expect(found.some((rule) => rules.includes(rule))).toBe(true);
      }),
    );
  });
});
