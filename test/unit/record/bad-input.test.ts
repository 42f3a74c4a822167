import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';
import { CoordinationPlan } from '../../../contracts/coordination-plan.ts';
import type { OpenRunInput } from '../../../contracts/activity-types.ts';
import { AgentFilesInvalid } from '../../../activities/ports/agent-source.ts';
import { inputExamples } from '../../../activities/run-record/describe-input-issues.ts';
import { agent, createHarness, useHarness } from './harness.ts';
import { readTree } from '../../support/read-tree.ts';
import type { Harness } from './harness.ts';
import { delegation } from './samples.ts';
import { writeDelegation } from '../../../core/executor.ts';

type WorkflowType = OpenRunInput['workflow_type'];

const workflowTypes = Object.keys(inputExamples).filter(
  (name): name is WorkflowType => name in inputExamples,
);

const harness = useHarness();

/** Message and faults of the failure, which must be one of bad input. */
const refused = async (
  workflow_type: WorkflowType,
  input: unknown,
  at: Harness = harness,
): Promise<{ message: string; paths: readonly string[] }> => {
  const error: unknown = await at.open(workflow_type, input).catch((thrown: unknown) => thrown);
  if (!(error instanceof ApplicationFailure)) throw new Error('It was not refused.');
  expect(error).toMatchObject({ type: 'InvalidInput', nonRetryable: true });
  const { message, details } = error;
  const faults = z
    .array(z.strictObject({ path: z.string(), reason: z.string() }))
    .parse(details?.[0]);
  expect(message.split('\n').at(-1)).toBe(`A good input: ${inputExamples[workflow_type]}`);
  for (const { path, reason } of faults) expect(message).toContain(`- ${path}: ${reason}`);
  return { message, paths: faults.map((fault) => fault.path) };
};

describe('bad input', () => {
  const goal = 'Goal';
  const writer = { agent_id: 'writer', task_description: 'Write.' };
  const dialectic = {
    type: 'dialectic',
    reason: 'It is hard to undo.',
    members: ['proposer', 'critic', 'synthesizer'].map((role) => ({
      name: role,
      role,
      agent_id: 'writer',
    })),
  };
  const phaseWithReserved: unknown = JSON.parse(
    '{"phase":"execute","type":"dialectic","task":"T","owners":{"__proto__":"proposer"}}',
  );
  it.each<[WorkflowType, unknown, string, string]>([
    ['plannerRun', { goal: '\u200b\u2060' }, 'goal', 'no visible character'],
    ['delegation', { ...writer, task_description: '\u200b' }, 'task_description', 'no visible'],
    ['triadPhase', phaseWithReserved, 'owners.__proto__', 'no name may be __proto__'],
  ])('finding L9: %s refuses %j and names %s', async (type, input, path, reason) => {
    const { message, paths } = await refused(type, input);
    expect(paths).toEqual([path]);
    expect(message).toContain(reason);
  });

  it.each<[WorkflowType, unknown, string, string]>([
    ['plannerRun', undefined, 'input', 'expected object'],
    ['plannerRun', null, 'input', 'object'],
    ['plannerRun', 'Compare ways', 'input', 'object'],
    ['plannerRun', [{ goal }], 'input', 'object'],
    ['plannerRun', {}, 'goal', 'missing, expected string'],
    ['plannerRun', { goal: '  ' }, 'goal', 'expected'],
    ['plannerRun', { goal, criteria: ['  '] }, 'criteria[0]', 'at least 1 character'],
    ['plannerRun', { goal: 7 }, 'goal', 'expected string'],
    ['plannerRun', { goal: 'x'.repeat(100_001) }, 'goal', 'at most 100000'],
    ['plannerRun', { gaol: goal, goal }, 'input', '"gaol". Did you mean "goal"? Fields are'],
    ['plannerRun', { goal, mood: 'good' }, 'input', 'here: "mood". Did you mean "mode"? Fields'],
    ['plannerRun', { goal, weather: 'good' }, 'input', 'here: "weather". Fields are: "goal"'],
    [
      'plannerRun',
      { goal, budget: { usd: 0 } },
      'budget.usd',
      'more than 0 expected. Try: a number of',
    ],
    ['plannerRun', { goal, language: 'german' }, 'language', 'BCP 47 language tag. Try: "de"'],
    ['delegation', { ...writer, language: 'de_DE' }, 'language', 'BCP 47 language tag'],
    ['plannerRun', { goal, constraints: 'x' }, 'constraints', 'expected array'],
    ['plannerRun', { goal, constraints: [''] }, 'constraints[0]', 'at least 1'],
    ['plannerRun', { goal, criteria: [1] }, 'criteria[0]', 'expected string'],
    ['plannerRun', { goal, mode: 'fast' }, 'mode', '"direct"'],
    ['plannerRun', { goal, use_defaults: 'yes' }, 'use_defaults', 'expected boolean'],
    ['plannerRun', { goal, agents_dir: '' }, 'agents_dir', 'at least 1'],
    [
      'plannerRun',
      { goal, limits: { max_waves: 0 } },
      'limits.max_waves',
      'too small: at least 1 expected. Try: a',
    ],
    ['plannerRun', { goal, limits: { max_waves: 1.5 } }, 'limits.max_waves', 'int'],
    ['plannerRun', { goal, limits: { max_wave: 1 } }, 'limits', 'Fields are: "max_waves"'],
    ['plannerRun', { goal, questions: { deadline: 9 } }, 'questions', '"deadline_seconds"'],
    ['plannerRun', { goal, questions: { remind_seconds: 0 } }, 'questions.remind_seconds', '1'],
    [
      'plannerWave',
      { goal, questions: { deadline_seconds: 1e9 } },
      'questions.deadline_seconds',
      '31536000',
    ],
    [
      'delegation',
      { ...writer, questions: { escalate_to: { person: '' } } },
      'questions.escalate_to.person',
      'Try: "Maria"',
    ],
    [
      'delegation',
      { ...writer, questions: { escalate_to: {} } },
      'questions.escalate_to.after_seconds',
      'missing',
    ],
    [
      'plannerRun',
      { goal, questions: { escalate_to: { who: 'M' } } },
      'questions.escalate_to',
      'Fields are: "person", "after_seconds"',
    ],
    ['plannerRun', { goal, autonomy: 'full' }, 'autonomy', '"ask", "assume"'],
    ['plannerWave', {}, 'goal', 'missing'],
    ['plannerWave', { goal, delegations: [] }, 'delegations', 'at least 1'],
    ['plannerWave', { goal, criteria: ['x'] }, 'input', '"delegations"'],
    [
      'plannerWave',
      { goal, delegations: [{ ...writeDelegation(delegation('a')), delegation_id: '../a' }] },
      'delegations[0].delegation_id',
      'lower-case letters',
    ],
    [
      'plannerWave',
      { goal, delegations: [{ ...writeDelegation(delegation('a')), why: 'x' }] },
      'delegations[0]',
      'Fields are: "delegation_id"',
    ],
    [
      'plannerWave',
      { goal, delegations: [writeDelegation(delegation('a', { agent_id: 'nobody' }))] },
      'delegations[0].agent_id',
      'nobody',
    ],
    ['delegation', {}, 'agent_id', 'missing'],
    ['delegation', { ...writer, task_description: '' }, 'task_description', 'at least 1'],
    ['delegation', { ...writer, acceptance_criteria: [] }, 'acceptance_criteria', 'at least 1'],
    ['delegation', { ...writer, agent_id: 'Writer' }, 'agent_id', 'lower-case letters'],
    [
      'delegation',
      { ...writer, agent_id: 'nobody' },
      'agent_id',
      'no agent "nobody". Agents are: "researcher", "writer"',
    ],
    ['delegation', { ...writer, agent_id: 'planner' }, 'agent_id', 'it does no task'],
    ['plannerRun', { goal, budget: { eur: 5 } }, 'budget', 'Fields are: "usd", "tokens"'],
    ['plannerRun', { goal, budget: { wave: { eur: 5 } } }, 'budget.wave', 'Fields are: "usd"'],
    ['plannerRun', { goal, triads: 'no' }, 'triads', 'expected boolean'],
    [
      'plannerWave',
      {
        goal,
        triads: false,
        delegations: [{ ...writeDelegation(delegation('a')), triad: dialectic }],
      },
      'delegations[0].triad',
      'does without triads. Try: leave triad out',
    ],
    [
      'plannerWave',
      { goal, delegations: [{ ...writeDelegation(delegation('a')), triad: dialectic }] },
      'delegations[0].agent_id',
      'its synthesizer "synthesizer"',
    ],
    ['triad', {}, 'type', '"hierarchical", "dialectic", "consensus"'],
    ['triad', { type: 'dialectic' }, 'task', 'missing'],
    ['triad', { type: 'dialectic', task: ' ' }, 'task', 'Try: {"type":"dialectic","task":"…"}'],
    ['triad', { type: 'dialectic', task: goal, phase: 'execute' }, 'input', 'Fields are: "type"'],
    ['triad', { ...dialectic, task: goal, reason: 'x' }, 'input', '"reason"'],
    [
      'triad',
      { type: 'consensus', task: goal, members: dialectic.members },
      'members[1].role',
      'is its peer, not its critic. Try: members in the order peer, peer, peer',
    ],
    [
      'triad',
      { type: 'dialectic', task: goal, members: [{ ...dialectic.members[0], lense: 'x' }] },
      'members[0]',
      'Fields are: "name", "role", "agent_id", "lens", "model"',
    ],
    [
      'triad',
      { type: 'dialectic', task: goal, timeouts: { turn: 1 } },
      'timeouts',
      'Fields are: "turn_seconds"',
    ],
    [
      'triad',
      {
        type: 'dialectic',
        task: goal,
        sections: [
          { section_id: 'a', text: 'A' },
          { section_id: 'a', text: 'B' },
        ],
      },
      'sections[1].section_id',
      'is the section_id of sections[0] already',
    ],
    ['triadPhase', { type: 'dialectic', task: goal }, 'phase', '"deliberate"'],
    [
      'triadPhase',
      { type: 'dialectic', task: goal, phase: 'deliberate', summary: 'x' },
      'summary',
      'Try: put it into the task',
    ],
    [
      'triadPhase',
      { type: 'dialectic', task: goal, phase: 'execute', verify: true },
      'verify',
      'Try: leave it out, or start a triad',
    ],
    [
      'triadPhase',
      { type: 'dialectic', task: goal, phase: 'execute', owners: { c1: 'critic', c9: 'proposer' } },
      'owners.c9',
      'Try: one of "c1"',
    ],
    [
      'triadPhase',
      { type: 'dialectic', task: goal, phase: 'execute', owners: { 'C 1': 'critic' } },
      'owners["C 1"]',
      'Try: ',
    ],
    [
      'triadPhase',
      {
        type: 'dialectic',
        task: goal,
        phase: 'negotiate',
        claims: [{ section_id: 'c1', member: 'critic', proposal: 'x', text: 'x' }],
      },
      'claims[0]',
      'Fields are: "section_id", "member", "proposal"',
    ],
  ])('%s: %j is refused at %s', async (workflowType, input, path, reason) => {
    const { message, paths } = await refused(workflowType, input);
    expect(paths).toContain(path);
    expect(message).toContain(reason);
    expect(await readTree(harness.home)).toEqual({});
  });

  it('lists every fault at once, those of the agent files among them', async () => {
    const at = await createHarness({
      agents: () => ({
        load: async () => {
          throw new AgentFilesInvalid([
            { file: 'agents/writer.md', line: 3, reason: 'unknown key "tool"' },
            { file: 'agents/empty.md', line: 1, reason: 'expected front matter' },
          ]);
        },
      }),
    });
    const input = { goal: '', criteria: [''], colour: 'red', limits: { max_waves: 0 } };
    const { message, paths } = await refused('plannerRun', input, at);
    expect(paths.toSorted()).toEqual([
      'agents/empty.md:1',
      'agents/writer.md:3',
      'criteria[0]',
      'goal',
      'input',
      'limits.max_waves',
    ]);
    expect(message).toMatch(/^The input of plannerRun has 6 faults:\n/);
    expect(message).toContain('- agents/writer.md:3: unknown key "tool"');
  });

  it('lists more faults than a model would be shown', async () => {
    const criteria = Array.from({ length: 20 }, () => '');
    const constraints = Array.from({ length: 50 }, () => '');
    const { paths } = await refused('plannerRun', { goal, criteria, constraints });
    expect(paths).toHaveLength(70);
  });

  it('refuses a verifier for a criterion that the input does not have', async () => {
    const verify = ['goal-2', 'goal-3', 'goal-0', 'table-done'];
    const { paths, message } = await refused('plannerRun', { goal, criteria: ['A', 'B'], verify });
    expect(paths).toEqual(['verify', 'verify']);
    expect(message).toContain('there is no "goal-3". Try: "goal-1"');
  });

  it.each<[WorkflowType, object, string[]]>([
    ['delegation', { ...writer, acceptance_criteria: ['A', 'B'] }, ['c1', 'c2']],
    ['team', { message: 'M', members: ['researcher', 'writer'] }, ['c1']],
    ['plannerWave', { goal, delegations: [writeDelegation(delegation('a'))] }, ['a-1']],
  ])('refuses a verifier for a criterion that a %s does not have', async (type, input, known) => {
    const { paths, message } = await refused(type, { ...input, verify: ['goal-1'] });
    expect(paths).toEqual(['verify']);
    expect(message).toContain(`no criterion "goal-1". Criteria are: "${known.join('", "')}"\n`);
    expect(await harness.open(type, { ...input, verify: known })).toMatchObject({ verify: known });
  });

  it('lists every finding of a typed plan', async () => {
    const { plan } = z
      .object({ plan: CoordinationPlan })
      .parse(JSON.parse(inputExamples.riskAssessment));
    const [task] = plan.tasks;
    const faulty = {
      ...plan,
      agents: plan.agents.map((one, at) => ({ ...one, agent_id: `ghost-${at}` })),
      tasks: [{ ...task, depends_on: ['never_1727539200'] }],
    };
    const { message, paths } = await refused('plannerRun', { goal, plan: faulty });
    expect(paths).toEqual(['plan/agents/0/agent_id', 'plan/agents/1/agent_id', expect.any(String)]);
    expect(paths[2]).toContain('plan/tasks/0/depends_on');
    expect(message).toContain('(DP3). Try: ');
    expect(await readTree(harness.home)).toEqual({});
  });

  it('stays small enough for history, and says how many more there are', async () => {
    const delegations = Array.from({ length: 50 }, () => ({}));
    const { message, paths } = await refused('plannerWave', { goal, delegations });
    expect(paths).toHaveLength(200);
    expect(message).toMatch(/\n- … and \d{3} more\n/);
    expect(message.length).toBeLessThan(100_000);
  });

  it('reads the agents of the named folder although the rest is wrong', async () => {
    const dirs: (string | null)[] = [];
    const at = await createHarness({
      agents: (dir) => {
        dirs.push(dir);
        return { load: async () => [agent('planner')] };
      },
    });
    await refused('plannerRun', { agents_dir: 'mine' }, at);
    expect(dirs).toEqual(['mine']);
  });

  it('shows a cycle among the delegations of a wave', async () => {
    const delegations = [
      writeDelegation(delegation('a', { depends_on: ['b'] })),
      writeDelegation(delegation('b', { depends_on: ['a'] })),
    ];
    const { message } = await refused('plannerWave', { goal, delegations });
    expect(message).toMatch(/a ?→ ?b ?→ ?a/);
  });

  it('refuses agents with tools that do not exist, and agents without a planner', async () => {
    const at = await createHarness({
      agents: () => ({ load: async () => [agent('writer', ['load_detail', 'shell'])] }),
    });
    const { message, paths } = await refused('plannerRun', { goal }, at);
    expect(paths).toEqual(['agent writer', 'agents']);
    expect(message).toContain('"shell", which does not exist. Tools are: "load_detail"');
    expect(message).toContain('expected an agent "planner". There are: "writer"');
  });

  it('refuses a triad where the planner is the only agent', async () => {
    const at = await createHarness({ agents: () => ({ load: async () => [agent('planner')] }) });
    const { message, paths } = await refused('triad', { type: 'consensus', task: goal }, at);
    expect(paths).toEqual(['members']);
    expect(message).toContain('no agent but the planner');
  });

  it('refuses a model without a price where only money is limited, and names its member', async () => {
    const at = await createHarness({ isPriced: (model) => model !== 'odd' });
    const members = dialectic.members.map((one) => ({ ...one, model: 'odd' }));
    const input = { type: 'dialectic', task: goal, members, budget: { usd: 5 } };
    const { message, paths } = await refused('triad', input, at);
    expect(paths).toEqual(['budget.usd']);
    expect(message).toContain('not known for "proposer", "critic", "synthesizer"');
    const tokens = { ...input, budget: { usd: 5, tokens: 1_000 } };
    await expect(at.open('triad', tokens)).resolves.toBeDefined();
    // The triad that verifies a plan spends money too.
    const { plan } = z
      .object({ plan: CoordinationPlan })
      .parse(JSON.parse(inputExamples.riskAssessment));
    const peers = ['ann', 'bob', 'cid'].map((name) => ({ name, role: 'peer', agent_id: 'writer' }));
    const triad = { type: 'consensus', reason: 'Three see more.', members: peers };
    const jury = { ...triad, members: peers.map((one) => ({ ...one, model: 'odd' })) };
    const agents = plan.agents.map((one) =>
      one.role === 'verifier' ? { ...one, triad: jury } : one,
    );
    const planned = { goal, plan: { ...plan, agents }, budget: { usd: 5 } };
    expect((await refused('plannerRun', planned, at)).message).toContain('"ann", "bob", "cid"');
  });

  it.each(workflowTypes)('the example for %s is good', async (type) => {
    await expect(harness.open(type, JSON.parse(inputExamples[type]))).resolves.toBeDefined();
    expect(inputExamples[type]).not.toContain('\n');
  });
});
