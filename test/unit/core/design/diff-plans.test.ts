import type { CoordinationPlan } from '../../../../contracts/coordination-plan.ts';
import { diffPlans } from '../../../../core/design/diff-plans.ts';
import { planTask, samplePlan, withTask } from '../../../support/plans.ts';

const diff = (after: CoordinationPlan): string[] =>
  diffPlans(samplePlan(), after).map(({ kind, path }) => `${kind} ${path}`);

describe('diffPlans', () => {
  it('DF1: equal plans have no difference, in whatever order their fields are', () => {
    expect(diff(samplePlan())).toEqual([]);
    const [first, ...others] = samplePlan().tasks;
    if (first === undefined) throw new Error('the sample has tasks');
    const { task_id, title, ...rest } = first;
    const turned = { ...rest, title, task_id };
    expect(diff(samplePlan({ tasks: [turned, ...others] }))).toEqual([]);
  });

  it('DF1: each changed field is one difference', () => {
    const changed = withTask(1, () => ({ title: 'Tables', depends_on: [] }));
    expect(diff({ ...changed, summary: 'Another.', risks: [] })).toEqual([
      'changed summary',
      'changed tasks/schema_1727539200/title',
      'changed tasks/schema_1727539200/depends_on',
      'removed risks/slow-listing',
    ]);
  });

  it('DF2: a moved entry is neither added nor removed', () => {
    const { tasks } = samplePlan();
    expect(diff(samplePlan({ tasks: tasks.toReversed() }))).toEqual(['moved tasks']);
    expect(diff(samplePlan({ tasks: [...tasks, planTask('more')].slice(1) }))).toEqual([
      'removed tasks/try-index_1727539200',
      'added tasks/more_1727539200',
    ]);
  });
});

it('DF3: evidence and files are compared one by one, by their ids', () => {
  const evidence = [1, 2, 3].map((nth) => ({
    evidence_id: `seen-${nth}`,
    description: `The file has ${nth} rows.`,
  }));
  const validation = { verified_by: 'reviewer_agent', evidence };
  const before = withTask(3, () => ({ validation }));
  const third = { evidence_id: 'seen-3', description: 'The file has 4 rows.' };
  const after = withTask(3, ({ outputs }) => ({
    validation: { ...validation, evidence: [...evidence.slice(1, 2), third] },
    outputs: [...outputs, { path: 'docs.md', format: 'Markdown' }],
  }));
  const path = 'tasks/docs_1727539200';
  expect(diffPlans(before, after)).toMatchObject([
    { kind: 'added', path: `${path}/outputs/docs.md` },
    { kind: 'removed', path: `${path}/validation/evidence/seen-1` },
    {
      kind: 'changed',
      path: `${path}/validation/evidence/seen-3/description`,
      before: 'The file has 3 rows.',
      after: 'The file has 4 rows.',
    },
  ]);
});

it('DF1: a list whose ids are not its own is compared as a whole', () => {
  const [, , reader] = samplePlan().tasks;
  const inputs = reader?.inputs ?? [];
  const twice = withTask(2, () => ({ inputs: [...inputs, ...inputs] }));
  expect(diffPlans(samplePlan(), twice)).toMatchObject([
    { kind: 'changed', path: 'tasks/api_1727539200/inputs' },
  ]);
});
