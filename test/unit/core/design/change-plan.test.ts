import type { CoordinationPlan, PlanOperation } from '../../../../contracts/coordination-plan.ts';
import { changePlan } from '../../../../core/design/change-plan.ts';
import { checkCoordinationPlan } from '../../../../core/design/check-plan-file.ts';
import { planAgents, planTask, samplePlan, withTask } from '../../../support/plans.ts';
import {
  operationsOfPractices,
  operationsOfProofs,
} from '../../../../core/design/assemble-plan.ts';

function change(
  operations: readonly PlanOperation[],
  plan: CoordinationPlan = samplePlan(),
): CoordinationPlan {
  const changed = changePlan(plan, operations);
  if (!changed.ok) throw new Error(JSON.stringify(changed.faults));
  return changed.plan;
}

function faultsOf(operations: readonly PlanOperation[]): (readonly [string, string])[] {
  const changed = changePlan(samplePlan(), operations);
  return changed.ok ? [] : changed.faults.map(({ path, message }) => [path, message] as const);
}

const idsOf = ({ tasks }: CoordinationPlan): string[] =>
  tasks.map(({ task_id }) => task_id.replace('_1727539200', ''));
const taskOf = ({ tasks }: CoordinationPlan, name: string) =>
  tasks.find(({ task_id }) => task_id.startsWith(`${name}_`));
const schema = 'schema_1727539200';
const doer = {
  agent_name: 'database_agent',
  role: 'doer',
  responsibility: 'Designs the tables.',
  agent_id: 'engineer',
} as const;

describe('changePlan', () => {
  it('PO1: all operations that can not be applied are reported, and nothing is changed', () => {
    const remove: PlanOperation = { operation: 'remove_task', task_id: 'none_1727539200' };
    const reassign: PlanOperation = { operation: 'reassign', task_id: schema, agent: 'ghost' };
    const good: PlanOperation = { operation: 'change_summary', summary: 'Another.' };
    expect(faultsOf([remove, good, reassign]).map(([path]) => path)).toEqual([
      'operations/0',
      'operations/2',
    ]);
  });

  it('operations take effect one after the other', () => {
    const agent = {
      agent_name: 'ux_agent',
      role: 'doer',
      responsibility: 'Words.',
      agent_id: 'engineer',
    } as const;
    const plan = change([
      { operation: 'add_agent', agent },
      { operation: 'reassign', task_id: 'docs_1727539200', agent: 'ux_agent' },
      { operation: 'append_instructions', task_id: schema, heading: 'Keys', text: 'Use UUIDs.' },
      { operation: 'change_escalation', escalation: ['Ask the user at once.'] },
    ]);
    expect(taskOf(plan, 'docs')?.agent).toBe('ux_agent');
    expect(taskOf(plan, 'schema')?.instructions).toMatch(/\n\n## Keys\nUse UUIDs\.$/);
    expect(plan.escalation).toEqual(['Ask the user at once.']);
  });

  it.each<readonly [string, PlanOperation]>([
    ['change_agent', { operation: 'change_agent', agent: { ...doer, agent_id: 'reviewer' } }],
    ['reassign', { operation: 'reassign', task_id: schema, agent: 'reviewer_agent' }],
  ])('an author that becomes its own verifier by %s is found', (_name, operation) => {
    const rules = checkCoordinationPlan(change([operation]), { agents: planAgents });
    expect(rules.map(({ rule }) => rule)).toContain('DP23');
  });

  it('PO2: the dependencies of a removed task pass on to its dependents', () => {
    const plan = change([{ operation: 'remove_task', task_id: schema }]);
    expect(taskOf(plan, 'api')?.depends_on).toEqual(['try-index_1727539200']);
  });

  it('PO3: dependents of a split task depend on its last part and read from the writer', () => {
    const before = taskOf(samplePlan(), 'schema');
    const first = planTask('tables', {
      outputs: before?.outputs ?? [],
      depends_on: before?.depends_on ?? [],
    });
    const last = planTask('indexes', { depends_on: [first.task_id] });
    const plan = change([{ operation: 'split_task', task_id: schema, into: [first, last] }]);
    expect(idsOf(plan)).toEqual(['try-index', 'tables', 'indexes', 'api', 'docs']);
    expect(taskOf(plan, 'api')?.depends_on).toEqual([last.task_id]);
    expect(taskOf(plan, 'api')?.inputs[0]?.from).toBe(first.task_id);
    expect(checkCoordinationPlan(plan, { agents: planAgents })).toEqual([]);
  });

  it('PO4: a proof of concept comes before the tasks it names', () => {
    const proof = planTask('try-login', {
      proof_of_concept: {
        risk_id: 'slow-listing',
        success_criteria: ['It works 10 times.'],
        failure_criteria: ['It fails once.'],
      },
    });
    const before = ['api_1727539200', 'docs_1727539200'];
    const plan = change([{ operation: 'insert_proof_of_concept', task: proof, before }]);
    expect(idsOf(plan)).toEqual(['try-index', 'schema', 'try-login', 'api', 'docs']);
    expect(taskOf(plan, 'docs')?.depends_on).toEqual(['try-login_1727539200']);
    expect(checkCoordinationPlan(plan, { agents: planAgents })).toEqual([]);
    const plain = { ...proof, proof_of_concept: null };
    expect(faultsOf([{ operation: 'insert_proof_of_concept', task: plain, before }])).toEqual([
      ['operations/0', 'the task "try-login_1727539200" is no proof of concept'],
    ]);
  });

  it('PO6: evidence keeps its checks by code when a task gets another validation or is split', () => {
    const someCheck = { kind: 'file', path: 'schema.md', sha256: null } as const;
    const plan = withTask(1, ({ validation }) => ({
      validation: {
        ...validation,
        evidence: validation.evidence.map((one) => ({ ...one, check: someCheck })),
      },
    }));
    const validation = {
      verified_by: 'reviewer_agent',
      evidence: [
        { evidence_id: 'schema-done', description: 'The file names all tables.' },
        { evidence_id: 'keys', description: 'Each table has 1 key.' },
      ],
    };
    const changed = change([{ operation: 'change_validation', task_id: schema, validation }], plan);
    const [done, added] = taskOf(changed, 'schema')?.validation.evidence ?? [];
    expect(done).toEqual({ ...validation.evidence[0], check: someCheck });
    expect(added).toEqual(validation.evidence[1]);
    const into = [planTask('schema-a', { validation }), planTask('schema-b')];
    const split = change([{ operation: 'split_task', task_id: schema, into }], plan);
    expect(taskOf(split, 'schema-a')?.validation.evidence[0]).toEqual(done);
  });

  it('PO5: no operation exceeds the limits of a plan', () => {
    const many = Array.from({ length: 57 }, (_, at): PlanOperation => {
      return { operation: 'add_task', task: planTask(`t${at}`) };
    });
    expect(faultsOf(many.slice(0, 56))).toEqual([]);
    expect(faultsOf(many)).toEqual([['operations/56', 'a plan has at most 60 tasks']]);
    const text = 'x'.repeat(20_000);
    expect(
      faultsOf([
        { operation: 'change_instructions', task_id: schema, instructions: text },
        { operation: 'append_instructions', task_id: schema, heading: 'More', text: 'y' },
      ]).map(([path]) => path),
    ).toEqual(['operations/1']);
  });

  it.each<[string, PlanOperation]>([
    ['a task twice', { operation: 'add_task', task: planTask('schema') }],
    ['an unknown draft', { operation: 'remove_draft', agent_id: 'tester' }],
    ['an unknown agent', { operation: 'remove_agent', agent_name: 'ghost' }],
    [
      'a risk twice',
      {
        operation: 'add_risk',
        risk: {
          risk_id: 'slow-listing',
          assumption: 'a',
          likelihood: 'low',
          impact: 'low',
          mitigation: 'm',
        },
      },
    ],
    ['a missing task', { operation: 'reorder', task_id: 'no_1727539200', depends_on: [] }],
  ])('%s is refused', (_name, operation) => {
    expect(faultsOf([operation])).toHaveLength(1);
  });
});

describe('operations of the risk assessment', () => {
  const proof = {
    task: 'try-login',
    title: 'Try the login',
    agent: 'api_agent',
    verified_by: 'reviewer_agent',
    risk_id: 'login',
    success_criteria: ['It works 10 times.'],
    failure_criteria: ['It fails once.'],
    instructions: 'Log in ten times.',
    outputs: [{ path: 'agents/api_agent/task_output/login.md', format: 'Markdown' }],
    evidence: [{ evidence_id: 'api-done', description: 'The file has 10 rows.' }],
    dependents: ['docs_1727539200'],
  };
  const risk = {
    risk_id: 'login',
    assumption: 'The login works.',
    likelihood: 'low',
    impact: 'high',
    mitigation: 'Try it.',
  } as const;

  it('OR1 and OR2: each proof of concept has its own id and comes before all that rely on it', () => {
    const recommended = { risks: [risk], proofs_of_concept: [proof, proof] };
    const position = { task: 'try-login', depends_on: [], before: ['api_1727539200'] };
    const operations = operationsOfProofs(
      samplePlan(),
      recommended,
      { positions: [position] },
      1_727_539_300,
    );
    const plan = change(operations);
    expect(idsOf(plan).filter((id) => id.startsWith('try-login'))).toEqual([
      'try-login_1727539300',
      'try-login_1727539301',
    ]);
    for (const name of ['api', 'docs']) {
      expect(taskOf(plan, name)?.depends_on).toContain('try-login_1727539301');
    }
    const rules = checkCoordinationPlan(plan, { agents: planAgents }).map(({ rule }) => rule);
    // Both write the same file, in no order.
    expect(rules).toEqual(['DP13']);
  });

  it('OR1: a proof of concept is not named like a later attempt at a task', () => {
    const plan = samplePlan();
    const again = { ...proof, task: 'schema-2' };
    const operations = operationsOfProofs(
      plan,
      { risks: [risk], proofs_of_concept: [again] },
      { positions: [] },
      1_727_539_200,
    );
    expect(idsOf(change(operations))).toContain('schema-2_1727539201');
  });

  it('OR3: practices of any length reach their task', () => {
    const practices = Array.from({ length: 5 }, (_, at) => `${at}${'x'.repeat(1_000)}`);
    const operations = operationsOfPractices({ tasks: [{ task_id: schema, practices }] });
    const { instructions = '' } = taskOf(change(operations), 'schema') ?? {};
    for (const one of practices) expect(instructions).toContain(`- ${one}`);
    expect(
      operationsOfPractices({ tasks: [{ task_id: schema, practices: ['y'.repeat(2_000)] }] }),
    ).toMatchObject([{ text: 'y'.repeat(2_000) }]);
  });
});
