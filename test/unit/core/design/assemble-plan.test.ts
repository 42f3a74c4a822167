import { CoordinationPlan } from '../../../../contracts/coordination-plan.ts';
import { assemblePlan, checkDesignParts } from '../../../../core/design/assemble-plan.ts';
import { checkCoordinationPlan } from '../../../../core/design/check-plan-file.ts';
import { designParts, planAgents } from '../../../support/plans.ts';

describe('assemblePlan', () => {
  it('AS1: each task of the sequence becomes a task with an id of its own', () => {
    const plan = assemblePlan(designParts());
    expect(plan.tasks.map(({ task_id }) => task_id)).toEqual([
      'schema_1727539200',
      'api_1727539201',
    ]);
    expect(CoordinationPlan.parse(plan)).toEqual(plan);
    expect(checkCoordinationPlan(plan, { agents: planAgents })).toEqual([]);
    expect(plan.summary).toContain('All 12 tests pass.');
  });

  it('AS2: references become ids, and one to a missing task becomes a finding', () => {
    const parts = designParts();
    const [schema, api] = parts.sequence.tasks;
    if (schema === undefined || api === undefined) throw new Error('the sample has two tasks');
    const { tasks } = assemblePlan(parts);
    expect(tasks[1]).toMatchObject({
      depends_on: ['schema_1727539200'],
      inputs: [{ from: 'schema_1727539200' }],
    });
    const lost = assemblePlan({
      ...parts,
      sequence: { ...parts.sequence, tasks: [schema, { ...api, depends_on: ['schema', 'tests'] }] },
    });
    const findings = checkCoordinationPlan(lost, { agents: planAgents });
    expect(findings.map(({ rule, path }) => [rule, path])).toEqual([
      ['DP6', 'tasks/1/depends_on/1'],
    ]);
  });

  it('AS3: what a part says of an unknown task is reported', () => {
    const { files, ...parts } = designParts();
    expect(checkDesignParts({ files, ...parts })).toEqual([]);
    const more = { tasks: [...files.tasks, { task: 'tests', inputs: [], outputs: [] }] };
    expect(checkDesignParts({ ...parts, files: more })).toMatchObject([
      { rule: 'AS3', path: 'files/tasks/2/task' },
    ]);
    const [first] = parts.sequence.tasks;
    if (first === undefined) throw new Error('the sample has tasks');
    const sequence = { ...parts.sequence, tasks: [...parts.sequence.tasks, first] };
    expect(checkDesignParts({ ...parts, files, sequence })).toMatchObject([
      { rule: 'AS1', path: 'sequence/tasks/2/task' },
    ]);
  });

  it('AS4: evidence of two tasks gets ids of its own', () => {
    const ids = assemblePlan(designParts()).tasks.flatMap(({ validation }) =>
      validation.evidence.map(({ evidence_id }) => evidence_id),
    );
    expect(ids).toEqual(['tests', 'tests-2']);
  });

  it('AS5: a criterion of the user that is evidence of no task is reported', () => {
    const [found, ...more] = checkDesignParts(designParts(), ['tests', 'goal-1']);
    expect(found).toMatchObject({ rule: 'AS5', message: expect.stringContaining('"goal-1"') });
    expect(more).toEqual([]);
  });

  it('a task that the other parts leave out keeps its purpose, and its gaps are found', () => {
    const none = { tasks: [] };
    const plan = assemblePlan(
      designParts({
        files: none,
        checkpoints: { tasks: [], escalation: ['Ask the user.'] },
        instructions: none,
      }),
    );
    expect(plan.tasks[0]?.instructions).toBe('Design the tables.');
    const findings = checkCoordinationPlan(plan, { agents: planAgents });
    expect(findings.map(({ rule }) => rule)).toEqual(['DP11', 'DP11', 'DP19', 'DP19']);
  });
});
