import type { CoordinationPlan, PlanTask } from '../../../../contracts/coordination-plan.ts';
import { checkCoordinationPlan } from '../../../../core/design/check-plan-file.ts';
import { planAgents, planTask, samplePlan, withTask } from '../../../support/plans.ts';

const check = (plan: CoordinationPlan): [string, string][] =>
  checkCoordinationPlan(plan, { agents: planAgents }).map(({ rule, path }) => [rule, path]);

const withInput = (over: object): CoordinationPlan =>
  withTask(2, ({ inputs }) => ({ inputs: inputs.map((input) => ({ ...input, ...over })) }));

const { agents } = samplePlan();
const schemaFile = { path: 'agents/database_agent/task_output/schema.md', format: 'Markdown' };
const docsFile = { path: 'agents/api_agent/task_output/docs.md', format: 'Markdown' };
const schema = 'schema_1727539200';

const code = { path: 'src/schema.sql', format: 'SQL' };

/** The sample plan, whose last task writes what the API reads from the schema. */
const withRewrite = (over: Partial<PlanTask>): CoordinationPlan =>
  withTask(
    3,
    () => ({ outputs: [code], ...over }),
    withTask(
      1,
      () => ({ outputs: [code] }),
      withTask(2, () => ({ inputs: [{ ...code, from: schema }] })),
    ),
  );

/** A task that depends on another one. */
const link = (one: string, other: string): PlanTask =>
  planTask(one, {
    agent: one < 'c' ? 'database_agent' : 'api_agent',
    depends_on: [`${other}_1727539200`],
  });

/** Each fault with the one rule and the one place that report it. */
const faults: readonly [string, string, string, CoordinationPlan][] = [
  ...['/etc/passwd', '../x.md', 'a//b.md', 'a\\b.md', 'C:/x.md', './x.md', '.github/ci.yml']
    .concat(['.env', '.GIT/config', 'what?.md', 'con.md', `${'a/'.repeat(10)}b`, 'docs/x.'])
    .map((path): [string, string, string, CoordinationPlan] => [
      `DP10: the path ${path}`,
      'DP10',
      'tasks/3/outputs/0/path',
      withTask(3, () => ({ outputs: [{ path, format: 'Markdown' }] })),
    ]),
  ['DP11: a task without a file', 'DP11', 'tasks/3/outputs', withTask(3, () => ({ outputs: [] }))],
  [
    "DP12: a file in another agent's folder",
    'DP12',
    'tasks/3/outputs/0/path',
    withTask(3, () => ({
      outputs: [{ path: 'agents/database_agent/task_output/x.md', format: 'Markdown' }],
    })),
  ],
  ...[
    'agents/database_agent/notes.md',
    'agents/api_agent/docs.md',
    'agents/api_agent',
    'agents/apiagent/task_output/docs.md',
  ].map((path): [string, string, string, CoordinationPlan] => [
    `DP12: ${path} is in no folder of the author's results`,
    'DP12',
    'tasks/3/outputs/0/path',
    withTask(3, () => ({ outputs: [{ path, format: 'Markdown' }] })),
  ]),
  [
    'DP13: two authors of a file in no order',
    'DP13',
    'tasks/3/outputs/0/path',
    withTask(
      3,
      () => ({ outputs: [{ path: 'notes.md', format: 'Markdown' }] }),
      withTask(2, () => ({ outputs: [{ path: 'notes.md', format: 'Markdown' }] })),
    ),
  ],
  [
    'DP14: an input that its author does not write',
    'DP14',
    'tasks/2/inputs/0/path',
    withInput({ path: 'schema.sql' }),
  ],
  [
    'DP14: an input of an unknown task',
    'DP14',
    'tasks/2/inputs/0/from',
    withInput({ from: 'ghost_1727539200' }),
  ],
  [
    'DP15: a reader that does not depend on the author',
    'DP15',
    'tasks/3/inputs/0/from',
    withTask(3, () => ({ inputs: [{ ...schemaFile, from: schema }] })),
  ],
  [
    'DP16: two formats of one file',
    'DP16',
    'tasks/2/inputs/0/format',
    withInput({ format: 'SQL' }),
  ],
  [
    'DP17: a file that another task writes and that is to exist already',
    'DP17',
    'tasks/2/inputs/0/from',
    withInput({ from: null }),
  ],
  [
    'DP17: a file that another task writes once more before it is read',
    'DP17',
    'tasks/2/inputs/0/from',
    withRewrite({ depends_on: [schema] }),
  ],
  [
    'DP18: a cycle of files',
    'DP18',
    'tasks/2/inputs',
    withTask(
      3,
      () => ({
        inputs: [
          {
            path: 'agents/api_agent/task_output/api.md',
            format: 'Markdown',
            from: 'api_1727539200',
          },
        ],
      }),
      withTask(2, () => ({ inputs: [{ ...docsFile, from: 'docs_1727539200' }] })),
    ),
  ],
  ...['MANUAL.md', 'agents/till.md'].map((path): [string, string, string, CoordinationPlan] => [
    `DP29: ${path}, a file of the workspace, by an agent that only reads`,
    'DP29',
    'tasks/3/outputs/0/path',
    withTask(
      3,
      () => ({ outputs: [{ path, format: 'Markdown' }] }),
      samplePlan({
        agents: agents.map((one) => ({
          ...one,
          agent_id: one.role === 'verifier' ? 'engineer' : 'reviewer',
        })),
      }),
    ),
  ]),
];

describe('checkFiles', () => {
  it.each(faults)('%s is the one finding', (_name, rule, path, plan) => {
    expect(check(plan)).toEqual([[rule, path]]);
  });

  it.each([
    ['depends on the reader', { depends_on: ['api_1727539200'] }],
    [
      'reads it itself, after the reader',
      { depends_on: ['api_1727539200'], inputs: [{ ...code, from: schema }] },
    ],
  ])('DP17: a file is written once more by a task that %s', (_what, over) => {
    expect(check(withRewrite(over))).toEqual([]);
  });

  it('DP17: the newest of several versions may be read', () => {
    const tasks = [
      planTask('draft', { outputs: [code] }),
      planTask('mend', { outputs: [code], depends_on: ['draft_1727539200'] }),
      planTask('read', {
        agent: 'api_agent',
        depends_on: ['mend_1727539200'],
        inputs: [{ ...code, from: 'mend_1727539200' }],
      }),
    ];
    expect(check(samplePlan({ tasks, risks: [] }))).toEqual([]);
  });

  it('DP7, DP18: each cycle is shown', () => {
    const tasks = [link('a', 'b'), link('b', 'a'), link('c', 'd'), link('d', 'c')];
    expect(check(samplePlan({ tasks, risks: [] }))).toEqual([
      ['DP7', 'tasks/0/depends_on'],
      ['DP7', 'tasks/2/depends_on'],
    ]);
    const reading = tasks.map(({ depends_on: [from = ''], ...task }): PlanTask => {
      const [file = code] = tasks.find(({ task_id }) => task_id === from)?.outputs ?? [];
      return { ...task, depends_on: [], inputs: [{ ...file, from }] };
    });
    expect(check(samplePlan({ tasks: reading, risks: [] }))).toEqual([
      ['DP18', 'tasks/0/inputs'],
      ['DP18', 'tasks/2/inputs'],
    ]);
  });

  it.each(['agents/till.md', 'agents/support/prompt.md', 'agents/task_output'])(
    'DP12: %s in the folder agents/ of the user is a file of the workspace',
    (path) => {
      expect(check(withTask(3, () => ({ outputs: [{ path, format: 'Markdown' }] })))).toEqual([]);
    },
  );
});
