import type { CoordinationPlan } from '../../../../contracts/coordination-plan.ts';
import type { EvidenceCheck } from '../../../../contracts/verification.ts';
import { checkCoordinationPlan } from '../../../../core/design/check-plan-file.ts';
import { planAgents, samplePlan, withTask } from '../../../support/plans.ts';

const findings = (plan: CoordinationPlan): [string, string][] =>
  checkCoordinationPlan(plan, { agents: planAgents }).map(({ rule, path }) => [rule, path]);

/** The sample plan, with a check of the last task, whose author is an engineer or one who only reads. */
function withCheck(check: EvidenceCheck, author: 'engineer' | 'reviewer' = 'engineer') {
  const { agents } = samplePlan();
  const verifier = author === 'engineer' ? 'reviewer' : 'engineer';
  const seats = agents.map((one) => ({
    ...one,
    agent_id: one.role === 'verifier' ? verifier : author,
  }));
  return withTask(
    3,
    ({ validation }) => ({
      validation: {
        ...validation,
        evidence: validation.evidence.map((one) => ({ ...one, check })),
      },
    }),
    samplePlan({ agents: seats }),
  );
}

const own = 'agents/api_agent/task_output/docs.md';
const place = 'tasks/3/validation/evidence/0/check';
const file = (path: string): EvidenceCheck => ({ kind: 'file', path, sha256: null });
const fits = (schema: Record<string, unknown>): EvidenceCheck => ({
  kind: 'schema',
  path: own,
  schema,
});

it('the file that is checked is an output of the plan', () => {
  const [, , , task] = samplePlan().tasks;
  expect(task?.outputs.map(({ path }) => path)).toEqual([own]);
});

describe('checks by code', () => {
  it.each([own, `./${own}`, 'package.json', '.github/ci.yml', '.env'])(
    'DP31: a check of the file %s can pass',
    (path) => {
      expect(findings(withCheck(file(path)))).toEqual([]);
    },
  );

  it.each(['../outside.json', '/etc/passwd', '.', '.git/config', 'a//b'])(
    'DP31: a check of the place %s is a finding',
    (path) => {
      expect(findings(withCheck(file(path)))).toEqual([['DP31', `${place}/path`]]);
      const unchanged = { kind: 'unchanged', paths: ['test/', path] } as const;
      expect(findings(withCheck({ ...unchanged, paths: [...unchanged.paths] }))).toEqual([
        ['DP31', `${place}/paths/1`],
      ]);
    },
  );

  it.each([own, 'agents/api_agent/task_output/other.md'])(
    'DP31: a check of %s, which its author has no tool to make, is a finding',
    (path) => {
      expect(findings(withCheck(file(path), 'reviewer'))).toEqual([['DP31', `${place}/path`]]);
    },
  );

  it('DP31: an author that only reads may be checked by a file that exists, and by what is unchanged', () => {
    expect(findings(withCheck(file('docs/plans.md'), 'reviewer'))).toEqual([]);
    const unchanged: EvidenceCheck = { kind: 'unchanged', paths: ['test'] };
    expect(findings(withCheck(unchanged, 'reviewer'))).toEqual([]);
  });

  it.each([
    [{ $ref: '#/$defs/row' }, '/$ref'],
    [
      { properties: { rows: { items: { $ref: 'https://example.org/row.json' } } } },
      '/properties/rows/items/$ref',
    ],
    [{ properties: { id: { pattern: '[' } } }, ''],
  ])('DP31: a schema that validates nothing is a finding: %j', (schema, inside) => {
    expect(findings(withCheck(fits(schema)))).toEqual([['DP31', `${place}/schema${inside}`]]);
  });

  it.each([
    [{ type: 'array', items: { $ref: '#/$defs/row' }, $defs: { row: { type: 'object' } } }],
    [{ $id: 'https://example.org/tree', properties: { sub: { $ref: '#' } } }],
    [{ $defs: { a: { $anchor: 'row' } }, $ref: '#row' }],
    [{ properties: { $ref: { type: 'string' }, pattern: { type: 'string' } } }],
  ])('DP31: a schema whose parts all exist is none: %j', (schema) => {
    const plan = withCheck(fits(schema));
    const before = JSON.stringify(plan);
    expect(findings(plan)).toEqual([]);
    expect(JSON.stringify(plan)).toBe(before);
  });
});

it('DP10: a hidden output is for an author with a tool that writes such files', () => {
  const path = '.github/workflows/ci.yml';
  const plan = withTask(3, () => ({ outputs: [{ path, format: 'YAML' }] }));
  const check = (tools: string[]) =>
    checkCoordinationPlan(plan, {
      agents: planAgents.map((one) => ({ ...one, allowed_tools: tools })),
    }).map(({ rule, message }) => [rule, message]);
  expect(check(['run_command'])).toEqual([]);
  expect(check(['write_file', 'edit_file'])).toEqual([
    ['DP10', `"${path}" can't be written: a part of it begins with "."`],
  ]);
});
