import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import type {
  CoordinationPlan,
  NewAgent,
  PlanFinding,
  PlanTask,
} from '../../../../contracts/coordination-plan.ts';
import { isRecord } from '../../../../core/json.ts';
import { root } from '../../../../scripts/bootstrap/hand-over.mjs';
import { checkCoordinationPlan } from '../../../../core/design/check-plan-file.ts';
import { planAgents, planTask, samplePlan, withTask } from '../../../support/plans.ts';

const findingsOf = (plan: CoordinationPlan): PlanFinding[] =>
  checkCoordinationPlan(plan, { agents: planAgents });

const check = (plan: CoordinationPlan): string[] => findingsOf(plan).map(({ rule }) => rule);

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

type Mutation = (plan: CoordinationPlan, at: number) => CoordinationPlan;

const extra = 'extra_1727539200';
const extraFile = { path: 'agents/database_agent/task_output/extra.md', format: 'Markdown' };

/** Adds a task that nothing depends on. */
function withExtra(plan: CoordinationPlan, over: Partial<PlanTask> = {}): CoordinationPlan {
  const known = plan.agents.some(({ agent_name }) => agent_name === 'database_agent');
  const added = { ...planTask('extra', { agent: 'database_agent' }), outputs: [extraFile] };
  return {
    ...plan,
    agents: known ? plan.agents : agents,
    tasks: [...plan.tasks, { ...added, ...over }],
  };
}

/** Adds a task from which another one reads a file. */
const withReader =
  (input: Partial<PlanTask['inputs'][number]>, depends: boolean): Mutation =>
  (plan, at) =>
    withTask(
      at,
      ({ inputs, depends_on }) => ({
        inputs: [...inputs, { ...extraFile, from: extra, ...input }],
        depends_on: depends ? [...depends_on, extra] : depends_on,
      }),
      withExtra(plan),
    );

const change =
  (over: (task: PlanTask) => Partial<PlanTask>): Mutation =>
  (plan, at) =>
    withTask(at, over, plan);

const withEvidence = (description: string, evidence_id = 'seen'): Mutation =>
  change(({ validation }) => ({
    validation: { ...validation, evidence: [{ evidence_id, description }] },
  }));

const [risk] = samplePlan().risks;
const proof = {
  risk_id: risk?.risk_id ?? '',
  success_criteria: ['The count is 0.'],
  failure_criteria: ['The count is above 0.'],
};

const unusedDraft: NewAgent = {
  agent_id: 'nobody',
  description: 'Of no use.',
  capabilities: [],
  tools: [],
  risk_level: 'low',
  prompt: 'Wait.',
};

/** Changes that make any valid plan wrong, by the rule that must report it. */
const mutations: readonly (readonly [rule: string, what: string, mutate: Mutation])[] = [
  [
    'DP1',
    'an id twice',
    (plan, at) => ({ ...plan, tasks: [...plan.tasks, plan.tasks[at] ?? planTask('x')] }),
  ],
  ['DP1', 'an id without a time', change(() => ({ task_id: 'task' }))],
  ['DP2', 'a name twice', (plan) => ({ ...plan, agents: [...plan.agents, ...plan.agents] })],
  [
    'DP3',
    'an agent that is not registered',
    (plan) => ({ ...plan, agents: plan.agents.map((one) => ({ ...one, agent_id: 'ghost' })) }),
  ],
  ['DP4', 'an unknown agent', change(() => ({ agent: 'ghost' }))],
  [
    'DP5',
    'an idle agent',
    (plan) => ({
      ...plan,
      agents: [
        ...plan.agents,
        ...agents.slice(0, 1).map((a) => ({ ...a, role: 'doer' as const, agent_name: 'idle' })),
      ],
    }),
  ],
  [
    'DP6',
    'a lost dependency',
    change(({ depends_on }) => ({ depends_on: [...depends_on, 'no_1727539200'] })),
  ],
  [
    'DP7',
    'a cycle',
    (plan, at) =>
      withTask(
        at,
        ({ depends_on }) => ({ depends_on: [...depends_on, extra] }),
        withExtra(plan, { depends_on: [plan.tasks[at]?.task_id ?? ''] }),
      ),
  ],
  ['DP8', 'a hole', change(() => ({ instructions: 'Do {{task}} now.' }))],
  ['DP9', 'too long instructions', change(() => ({ instructions: 'x'.repeat(19_900) }))],
  ['DP10', 'a place outside', change(() => ({ outputs: [{ path: '../x', format: 'Markdown' }] }))],
  ['DP11', 'no output', change(() => ({ outputs: [] }))],
  [
    'DP12',
    'the folder of another agent',
    change(() => ({ outputs: [{ ...extraFile, path: 'agents/reviewer_agent/task_output/x.md' }] })),
  ],
  [
    'DP13',
    'two authors in no order',
    (plan, at) =>
      withTask(
        at,
        () => ({ outputs: [{ path: 'shared.md', format: 'Markdown' }] }),
        withExtra(plan, { outputs: [{ path: 'shared.md', format: 'Markdown' }] }),
      ),
  ],
  ['DP14', 'an input that is no output', withReader({ path: 'nothing.md' }, true)],
  ['DP15', 'a reader that does not wait', withReader({}, false)],
  ['DP16', 'two formats of a file', withReader({ format: 'SQL' }, true)],
  ['DP17', 'a file that is to exist already', withReader({ from: null }, true)],
  [
    'DP18',
    'a cycle of files',
    (plan, at) => {
      const read = plan.tasks[at];
      const inputs = (read?.outputs ?? []).map((one) => ({ ...one, from: read?.task_id ?? null }));
      return withTask(
        at,
        (task) => ({ inputs: [...task.inputs, { ...extraFile, from: extra }] }),
        withExtra(plan, { inputs }),
      );
    },
  ],
  [
    'DP19',
    'no evidence',
    change(({ validation }) => ({ validation: { ...validation, evidence: [] } })),
  ],
  ['DP20', 'evidence that can not be measured', withEvidence('The result is good.')],
  [
    'DP21',
    'evidence twice',
    (plan, at) => withEvidence('It has 3 parts.', 'extra-done')(withExtra(plan), at),
  ],
  [
    'DP22',
    'an unknown verifier',
    change(({ validation }) => ({ validation: { ...validation, verified_by: 'ghost' } })),
  ],
  [
    'DP23',
    'its own verifier',
    change(({ validation, agent }) => ({ validation: { ...validation, verified_by: agent } })),
  ],
  [
    'DP23',
    'one agent_id for authors and verifiers',
    (plan) => ({
      ...plan,
      agents: plan.agents.map((one) => ({ ...one, agent_id: 'reviewer' })),
    }),
  ],
  [
    'DP24',
    'a proof of an unknown risk',
    (plan) => withExtra(plan, { proof_of_concept: { ...proof, risk_id: 'ghost' } }),
  ],
  [
    'DP25',
    'a proof that nothing waits for',
    (plan) =>
      withExtra({ ...plan, risks: risk === undefined ? [] : [risk] }, { proof_of_concept: proof }),
  ],
  ['DP26', 'a risk twice', (plan) => ({ ...plan, risks: risk === undefined ? [] : [risk, risk] })],
  [
    'DP28',
    'a draft without a place',
    (plan) => ({ ...plan, new_agents: [...plan.new_agents, unusedDraft] }),
  ],
  [
    'DP29',
    'a file of the workspace whose author only reads',
    (plan) => ({
      ...withExtra(plan, { outputs: [{ path: 'MANUAL.md', format: 'Markdown' }] }),
      agents: plan.agents.map((one) => ({ ...one, agent_id: 'reviewer' })),
    }),
  ],
  [
    'DP30',
    'a triad that makes something',
    (plan) => ({
      ...plan,
      agents: plan.agents.map((one) => (one.role === 'doer' ? { ...one, triad: jury } : one)),
    }),
  ],
  [
    'DP31',
    'a check of a file outside',
    change(({ validation }) => ({
      validation: {
        ...validation,
        evidence: validation.evidence.map((one) => ({
          ...one,
          check: { kind: 'file' as const, path: '../outside.json', sha256: null },
        })),
      },
    })),
  ],
  ['DP27', 'no escalation', (plan) => ({ ...plan, escalation: [] })],
];

const jury: NonNullable<CoordinationPlan['agents'][number]['triad']> = {
  type: 'consensus',
  reason: 'Three see more.',
  members: ['ann', 'bob', 'cid'].map((name) => ({ name, role: 'peer', agent_id: 'reviewer' })),
};

describe('random plans', () => {
  it('valid ones have no finding', () => {
    fc.assert(
      fc.property(plans, (plan) => {
        expect(check(plan)).toEqual([]);
      }),
    );
  });

  it.each(mutations)('%s: mutated ones with %s have the finding', (rule, _what, mutate) => {
    fc.assert(
      fc.property(plans, fc.nat(), (plan, at) => {
        const mutated = mutate(plan, at % plan.tasks.length);
        expect(check(mutated)).toContain(rule);
        for (const { path, message, cure } of findingsOf(mutated)) {
          expect([path, resolvePath(mutated, path)]).not.toEqual([path, undefined]);
          expect(message).toMatch(/\S \S/);
          expect(cure).toMatch(
            /^(?:Add|Give|Leave|Let|List|Merge|Name|Remove|Say|Shorten|Use|Write)\b.* /,
          );
        }
      }),
      { numRuns: 40 },
    );
  });

  it('every rule of the checks has a mutation', () => {
    const source = readFileSync(join(root, 'core', 'design', 'check-plan-file.ts'), 'utf8');
    const rules = [...source.matchAll(/^ \*   (DP\d+)\./gmu)].map(([, rule]) => rule);
    expect(new Set(mutations.map(([rule]) => rule))).toEqual(new Set(rules));
  });
});

/** Returns the part of a plan at a place such as `tasks/2/outputs`. */
function resolvePath(plan: CoordinationPlan, path: string): unknown {
  return path
    .split('/')
    .reduce<unknown>(
      (part, key) => (isRecord(part) || Array.isArray(part) ? Reflect.get(part, key) : undefined),
      plan,
    );
}
