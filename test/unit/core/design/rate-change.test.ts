import type { CoordinationPlan, PlanTask } from '../../../../contracts/coordination-plan.ts';
import {
  checkPlanChange,
  describePlanChange,
  ratePlanChange,
  checkJudged,
  keysOfProof,
  keysOfReview,
} from '../../../../core/design/rate-change.ts';
import { checkCoordinationPlan } from '../../../../core/design/check-plan-file.ts';
import { fitRoster } from '../../../../core/design/check-plan-verifiers.ts';
import { noUsage } from '../../../../core/usage/add-usage.ts';
import { planTask, samplePlan } from '../../../support/plans.ts';

const plan = samplePlan();
const proof = 'try-index_1727539200';
const schema = 'schema_1727539200';
const usage = { ...noUsage, calls: 2, input_tokens: 900, output_tokens: 100 };
const question = { run_id: 'my-run', usage, worked_ms: 2_000 };
const quiet = { significant: false, scope_changed: false, cost_changed: false };

const draft: CoordinationPlan['new_agents'][number] = {
  agent_id: 'prover',
  description: 'Tries things out.',
  capabilities: ['proofs'],
  tools: [],
  risk_level: 'low',
  prompt: 'You try things out.',
};

function withTasks(change: (tasks: readonly PlanTask[]) => readonly PlanTask[]): CoordinationPlan {
  return { ...plan, tasks: [...change(plan.tasks)] };
}

const changed = (id: string, change: Partial<PlanTask>): CoordinationPlan =>
  withTasks((tasks) => tasks.map((one) => (one.task_id === id ? { ...one, ...change } : one)));

const without = (id: string): CoordinationPlan =>
  withTasks((tasks) =>
    tasks
      .filter(({ task_id }) => task_id !== id)
      .map((one) => ({ ...one, depends_on: one.depends_on.filter((name) => name !== id) })),
  );

describe('ratePlanChange', () => {
  it('RPC1: instructions alone are not significant', () => {
    expect(ratePlanChange(plan, changed(schema, { instructions: 'Other.' }))).toMatchObject({
      ...quiet,
      changed_tasks: [schema],
    });
  });

  it.each([
    ['a dependency', changed(schema, { depends_on: [] })],
    ['a file', changed(schema, { outputs: [] })],
    ['an agent', { ...plan, agents: plan.agents.slice(1) }],
    ['a task less', without(proof)],
  ])('RPC1: %s is significant', (_what, after) => {
    expect(ratePlanChange(plan, after).significant).toBe(true);
  });

  it('RPC2: evidence that is left out changes the scope', () => {
    const after = without(proof);
    const evidence = plan.tasks
      .filter(({ task_id }) => task_id === proof)
      .flatMap(({ validation }) => validation.evidence.map(({ evidence_id }) => evidence_id));
    expect(ratePlanChange(plan, after)).toMatchObject({
      scope_changed: true,
      cost_changed: false,
      removed_tasks: [proof],
      removed_evidence: evidence,
    });
    expect(evidence).not.toEqual([]);
  });

  const check = { kind: 'file', path: 'schema.md', sha256: null } as const;
  const evidence = { evidence_id: 'schema-done', description: 'The file names all 3 schemas.' };
  const requiring = (one: PlanTask['validation']['evidence'][number]): CoordinationPlan =>
    changed(schema, { validation: { verified_by: 'reviewer_agent', evidence: [one] } });

  it.each([
    ['says something else', plan, requiring({ ...evidence, description: 'There is 1 schema.' })],
    ['code no longer checks', requiring({ ...evidence, check }), requiring(evidence)],
    [
      'code checks otherwise',
      requiring({ ...evidence, check }),
      requiring({ ...evidence, check: { ...check, path: 'other.md' } }),
    ],
  ])('RPC2: evidence that %s changes the scope, and the question names it', (_what, from, to) => {
    const rating = ratePlanChange(from, to);
    expect(rating).toMatchObject({
      scope_changed: true,
      removed_evidence: [],
      reworded_evidence: ['schema-done'],
    });
    const reason = { task_id: schema, explanation: '' };
    expect(
      describePlanChange(from, to, { plan_ref: 'sha256:new', rating, reason, question }).text,
    ).toContain('Evidence that is changed: schema-done.');
  });

  it('RPC2: a check by code that is added changes no scope', () => {
    expect(ratePlanChange(plan, requiring({ ...evidence, check })).scope_changed).toBe(false);
  });

  it('RPC2: more tasks than before change the cost, one in the place of another does not', () => {
    const added = planTask('further', { depends_on: [schema] });
    const more = withTasks((tasks) => [...tasks, added]);
    expect(ratePlanChange(plan, more)).toMatchObject({ cost_changed: true, scope_changed: false });
    const instead = { ...without(proof), tasks: [...without(proof).tasks, added] };
    expect(ratePlanChange(plan, instead).cost_changed).toBe(false);
  });

  it('RPC2: an agent that is drafted or drafted anew changes the scope, and the question says what it may do', () => {
    const drafted = { ...plan, new_agents: [draft] };
    const wider = { ...plan, new_agents: [{ ...draft, tools: ['read_file', 'write_file'] }] };
    for (const [from, to, may] of [
      [plan, drafted, 'no tools'],
      [drafted, wider, 'read_file, write_file'],
    ] as const) {
      const rating = ratePlanChange(from, to);
      expect(rating).toMatchObject({ scope_changed: true, significant: true });
      const reason = { task_id: schema, explanation: 'x'.repeat(2_000) };
      const { end } = describePlanChange(from, to, { plan_ref: 'new', rating, reason, question });
      expect(end).toContain(`New agents: prover (${may})\n`);
    }
    expect(ratePlanChange(drafted, plan).scope_changed).toBe(false);
  });

  it('an equal plan has no change', () => {
    expect(ratePlanChange(plan, samplePlan())).toEqual({
      ...quiet,
      changed_tasks: [],
      removed_tasks: [],
      removed_evidence: [],
      reworded_evidence: [],
    });
  });
});

const pathsOf = (after: CoordinationPlan, verified: readonly string[], failed: string | null) =>
  checkPlanChange(plan, after, { verified, failed }).map(({ path }) => path);

describe('checkPlanChange', () => {
  it('RPC3: what is verified is neither changed nor removed', () => {
    expect(pathsOf(changed(proof, { instructions: 'Other.' }), [proof], null)).toEqual([
      `tasks/${proof}`,
    ]);
    expect(pathsOf(without(proof), [proof], null)).toContain(`tasks/${proof}`);
    expect(pathsOf(changed(schema, { instructions: 'Other.' }), [proof], null)).toEqual([]);
  });

  it('RPC4: no task waits for a failed proof of concept that stayed as it was', () => {
    const waiting = pathsOf(changed(schema, { instructions: 'Other.' }), [], proof);
    expect(waiting).toContain(`tasks/${schema}`);
    const [first] = checkPlanChange(plan, plan, { verified: [], failed: proof });
    expect(first?.cure).toBe(`remove ${proof}, or change what it tests`);
    expect(pathsOf(without(proof), [], proof)).toEqual([]);
    expect(pathsOf(changed(proof, { instructions: 'Another test.' }), [], proof)).toEqual([]);
  });
});

it('RPC5: a change that has to follow is refused where it leaves the plan as it was', () => {
  const done = { verified: [proof], failed: null, unwanted: [plan] };
  expect(checkPlanChange(plan, samplePlan(), done)).toMatchObject([
    { path: 'operations', cure: expect.stringMatching(/^give the operations/) },
  ]);
  expect(checkPlanChange(plan, changed(schema, { instructions: 'Other.' }), done)).toEqual([]);
  expect(checkPlanChange(plan, samplePlan(), { verified: [proof], failed: null })).toEqual([]);
});

describe('fitRoster', () => {
  const world = {
    agents: ['engineer', 'planwright', 'reviewer'].map((agent_id) => ({
      agent_id,
      allowed_tools: ['write_file'],
      risk_level: 'low' as const,
    })),
  };
  const seed: CoordinationPlan = {
    ...plan,
    agents: [
      ...plan.agents,
      { agent_name: 'proof_agent', role: 'doer', responsibility: 'Proofs.', agent_id: 'prover' },
    ],
    new_agents: [draft],
    tasks: plan.tasks.map((one) =>
      one.task_id === proof ? { ...one, agent: 'proof_agent' } : one,
    ),
  };
  const left = { ...seed, tasks: without(proof).tasks };

  it('RPC6: who has no work left leaves the roster, with the draft, and the plan has no finding of it', () => {
    const fitted = fitRoster(seed, left);
    expect(fitted).toMatchObject({ agents: plan.agents, new_agents: [] });
    const [idle, none] = [left, fitted].map((one) => checkCoordinationPlan(one, world));
    expect(idle).toMatchObject([{ rule: 'DP5' }]);
    expect(none).toEqual([]);
    const rating = ratePlanChange(seed, fitted);
    const reason = { task_id: schema, explanation: '' };
    expect(
      describePlanChange(seed, fitted, { plan_ref: 'new', rating, reason, question }).text,
    ).toContain('Agents that are left out: proof_agent.');
  });

  it('RPC6: who gets work again is back, and who never had any stays', () => {
    const fitted = fitRoster(seed, left);
    expect(fitRoster(seed, { ...fitted, tasks: seed.tasks })).toEqual(seed);
    const idle = { ...seed, tasks: left.tasks };
    expect(fitRoster(idle, left)).toEqual(left);
  });
});

it('describes a change with its version, and what is added and given up', () => {
  const after = without(proof);
  const rating = ratePlanChange(plan, after);
  const reason = { task_id: schema, explanation: 'The experiment answers nothing any more.' };
  const { text } = describePlanChange(plan, after, {
    plan_ref: 'sha256:new',
    rating,
    reason,
    question,
  });
  expect(text).toMatch(/after .*schema_1727539200/);
  expect(text).toContain('Why: The experiment answers nothing any more.');
  expect(text).toContain('sha256:new');
  expect(text).toMatch(/Tasks that are left out: .*try-index_1727539200/);
  expect(text).toContain('Evidence that is given up');
  expect(text).not.toContain('Expected');
});

it('describes what new tasks are expected to cost, and how to see all of the change, however long the rest is', () => {
  const titled = { title: 'Take a further step '.repeat(20) };
  const added = Array.from({ length: 8 }, (_, nth) => planTask(`new-${nth}`, titled));
  const after = withTasks((tasks) => [...tasks, ...added]);
  const rating = ratePlanChange(plan, after);
  const reason = { task_id: schema, explanation: 'x'.repeat(2_000) };
  const { text } = describePlanChange(plan, after, { plan_ref: 'new', rating, reason, question });
  expect(text.length).toBeLessThanOrEqual(2_000);
  expect(text).toContain(
    'Expected for the new tasks: about 26 calls, 13.0k tokens, $0.00, 5 s, estimated from the calls that changed the plan.',
  );
  expect(text).toMatch(
    /All of the new version: .*artifact new\nWhat differs: .*plan diff my-run new$/,
  );
});

const asked = keysOfProof({
  risk_id: 'email-case',
  success_criteria: ['The count is 0', 'The query is given'],
  failure_criteria: ['The count is above 0'],
});
const all = [
  { kind: 'success', criterion: 'the count is 0.' },
  { kind: 'success', criterion: 'The query  is given' },
  { kind: 'failure', criterion: 'The count is above 0' },
] as const;
const faultsOf = (criteria: Parameters<typeof keysOfReview>[0]) =>
  checkJudged(asked, keysOfReview(criteria)).map(({ path, reason }) => [path, reason]);

it('JC1 and JC2: each criterion once is complete, whatever its case and punctuation', () => {
  expect(faultsOf(all)).toEqual([]);
});

it('JC1 and JC3: a criterion that is missing, unknown, of the other kind or judged twice goes back by its place', () => {
  expect(faultsOf(all.slice(0, 1))).toEqual([
    [
      'criteria',
      'these criteria of the task are not judged: success criterion 2, failure criterion 1',
    ],
  ]);
  const other = { kind: 'failure', criterion: 'The count is 0' } as const;
  const unknown = 'the task has no such criterion of this kind';
  expect(faultsOf([...all, other])).toEqual([['criteria/3', unknown]]);
  expect(faultsOf([...all, { kind: 'success', criterion: 'It is fast' }])).toEqual([
    ['criteria/3', unknown],
  ]);
  expect(faultsOf([...all, all[0]])).toEqual([['criteria/3', 'it is judged twice']]);
});
