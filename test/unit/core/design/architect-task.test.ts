import {
  findArchitect,
  mayDecide,
  orderDecision,
  readDecision,
  findAnswerConflicts,
} from '../../../../core/design/architect-task.ts';
import { nextWave } from '../../../../core/design/next-wave.ts';
import { instructionCharsMax } from '../../../../core/design/task-rules.ts';
import { findMissingParts } from '../../../../core/design/templates.ts';
import { agentOutput, askedQuestion, someRef, inboxQuestion } from '../../../support/factories.ts';
import { architectAgent, samplePlan } from '../../../support/plans.ts';
import { StoredPlan } from '../../../../contracts/wave-plan.ts';
import type { StoredAnswer } from '../../../../contracts/run-record.ts';
import { fact } from '../pool-builders.ts';
import type { Fact } from '../../../../contracts/agent-output.ts';

const plan = samplePlan({ agents: [...samplePlan().agents, architectAgent] });
const outline = { plan_ref: someRef, agents: plan.agents, tasks: 4, proofs_of_concept: 1 };
const architect = {
  plan_ref: someRef,
  agent_name: 'architect_agent',
  agent_id: 'analyst',
  verifier_name: 'reviewer_agent',
  verified_by: 'reviewer',
};
const question = askedQuestion({ text: 'Which database?' });
const keyed = askedQuestion({ text: 'Which port?', fact_key: 'port of the API' });
const chosen = askedQuestion({
  text: 'REST or GraphQL?',
  expected_answer_format: 'choice',
  choices: ['REST', 'GraphQL'],
});

it('SD1: a plan has an architect when its roster has one, and a verifier who is another agent', () => {
  expect(findArchitect(outline)).toEqual(architect);
  expect(findArchitect({ ...outline, agents: samplePlan().agents })).toBeNull();
  const own = plan.agents.map((one) => ({ ...one, agent_id: 'analyst' }));
  expect(findArchitect({ ...outline, agents: own })).toBeNull();
});

it.each([
  ['judges its decisions as one', 'tester', 'jury'],
  ['is passed over where the architect is a member', 'analyst', 'reviewer_agent'],
] as const)('SD1: a verifier that is a triad %s', (_how, agent_id, verifier_name) => {
  const members = (['proposer', 'critic', 'synthesizer'] as const).map((role, at) => ({
    name: role,
    role,
    agent_id: at === 0 ? agent_id : 'engineer',
  }));
  const triad = { type: 'dialectic', reason: 'A test.', members } as const;
  const agents = [
    { agent_name: 'jury', agent_id: 'engineer', role: 'verifier', triad } as const,
    ...plan.agents,
  ];
  const found = findArchitect({ ...outline, agents });
  expect(found?.verifier_name).toBe(verifier_name);
  expect(found?.triad).toEqual(verifier_name === 'jury' ? triad : undefined);
  const [asker] = nextWave(plan, { verified: [], dispatched: [] }, 50);
  if (asker === undefined || found === null) throw new Error('there is a task and an architect');
  const delegation_id = 'decision_w1n1_1727539200';
  const { verification } = orderDecision(
    plan,
    { delegation_id, questions: [question], asker },
    found,
  );
  expect(verification?.triad).toEqual(found.triad);
});

it('SD2: the task has all parts of its role, names each question and its form, and is verified', () => {
  const wave = nextWave(plan, { verified: [], dispatched: [] }, 50);
  const [asker] = wave;
  if (asker === undefined) throw new Error('the plan has a first task');
  const delegation_id = 'decision_w1n1_1727539200';
  const questions = [question, keyed, chosen];
  const task = orderDecision(plan, { delegation_id, questions, asker }, architect);
  expect(task).toMatchObject({
    delegation_id,
    agent_id: 'analyst',
    answers: asker.delegation_id,
    depends_on: asker.depends_on,
    verification: { verified_by: 'reviewer' },
  });
  expect(findMissingParts(task.task_description, 'solution_architect')).toEqual([]);
  for (const text of ['Which database?', '"port of the API"', '"REST" or "GraphQL"', asker.title])
    expect(task.task_description).toContain(text);
  const long = askedQuestion({ text: 'x'.repeat(2_000), why_it_matters: 'y'.repeat(1_000) });
  const most = orderDecision(
    plan,
    {
      delegation_id,
      questions: Array.from({ length: 10 }, () => ({ ...long, fact_key: 'z'.repeat(80) })),
      asker: { ...asker, task_description: 'w'.repeat(20_000) },
    },
    architect,
  );
  expect(most.task_description.length).toBeLessThanOrEqual(instructionCharsMax);
  const stored = { summary: 'A wave.', needs_user_input: false, user_questions: [] };
  expect(StoredPlan.safeParse({ ...stored, delegations: [...wave, task, most] }).success).toBe(
    true,
  );
});

it('SD3: a value is the answer where one is stated, the output itself otherwise', () => {
  const stated = { statement: 'It is so.', confidence: 'high' } as const;
  const output = agentOutput({
    compact_md: 'PostgreSQL.',
    detailed_md: '# Why\n\nIt runs already.',
    facts: [
      { ...stated, key: 'Port of the API', value: '8080' },
      { ...stated, key: 'answer to question 3', value: 'REST' },
    ],
  });
  expect(readDecision(output, [question, keyed, chosen])).toEqual([
    'PostgreSQL.\n\n# Why\n\nIt runs already.',
    '8080',
    'REST',
  ]);
  expect(readDecision({ ...output, facts: [] }, [keyed])).toEqual([
    'PostgreSQL.\n\n# Why\n\nIt runs already.',
  ]);
});

it('SD4: what does not fit a question does not answer it', () => {
  const stated = { statement: 'It is so.', confidence: 'high' } as const;
  const facts = [{ ...stated, key: 'answer to question 1', value: 'SOAP' }];
  expect(readDecision(agentOutput({ facts }), [chosen])).toEqual([null]);
  expect(readDecision(agentOutput({ facts: [] }), [chosen])).toEqual([null]);
});

it('SD5: three questions of a task are decided; neither a fourth, nor those of the architect, nor of a stranger', () => {
  const decisions = [1, 2, 3].map((n) => ({ delegation_id: `d${n}`, answers: 'asker' }));
  const asker = { delegation_id: 'asker' };
  expect([0, 1, 2, 3].map((n) => mayDecide([asker, ...decisions.slice(0, n)], 'asker'))).toEqual([
    true,
    true,
    true,
    false,
  ]);
  expect(mayDecide([asker, ...decisions], 'd1')).toBe(false);
  expect(mayDecide([asker], 'other')).toBe(false);
});

const { tasks } = samplePlan();
const id = (name: string): string => `${name}_1727539200`;

const answer = (over: Partial<StoredAnswer> = {}): StoredAnswer => ({
  question_id: 'q1',
  text: 'Which port has the API?',
  delegation_id: id('docs'),
  answer: '9090',
  answered_by: 'anna',
  source_refs: [],
  answered_at: 1,
  answer_ref: null,
  question: inboxQuestion({ wave: 2, kind: 'blocking', fact_key: 'port' }),
  ...over,
});

const told = fact(1, 'port', '8080', { source_refs: [`wave-001/${id('schema')}`] });
const own = fact(2, 'port', '9090', { source_refs: ['q1'], origin: 'user' });

const find = (facts: readonly Fact[], answered = answer(), wave = 2) =>
  findAnswerConflicts({ facts, answered_questions: [answered] }, tasks, wave);

it('AK1: an answer contradicts another value of its fact, as long as that had not given way before', () => {
  const retired = { ...told, superseded_by: 'f2' };
  for (const other of [told, retired, { ...told, superseded_by: 'wave-002/planner_decision' }]) {
    expect(find([other, own])).toMatchObject([
      {
        asker: id('docs'),
        conflict: {
          question_id: 'q1',
          fact_key: 'port',
          value: '9090',
          holds: true,
          others: [{ value: '8080', source: `wave-001/${id('schema')}` }],
        },
      },
    ]);
  }
  expect(find([{ ...told, value: '9090' }, own])).toEqual([]);
  expect(find([{ ...told, key: 'host' }, own])).toEqual([]);
  const between = fact(2, 'port', '9090', { source_refs: ['wave-001/x'] });
  const gone = { ...told, superseded_by: 'f2' };
  expect(find([gone, between, { ...own, fact_id: 'f3' }])).toEqual([]);
});

it('AK1: what a decision says contradicts others too, each key once', () => {
  const decision = 'decision_w2n1_1727539200';
  const decided = fact(2, 'port', '9090', { source_refs: [`wave-002/${decision}`] });
  const answered = answer({
    answered_by: 'solution-architect',
    source_refs: [decision],
    question: inboxQuestion({ wave: 2, kind: 'blocking' }),
  });
  expect(find([told, decided], answered)).toHaveLength(1);
  expect(find([told, { ...own, fact_id: 'f3' }, decided], answered)).toHaveLength(1);
});

it('AK2: it concerns who stated the other value, who reads from it and who waits for it', () => {
  expect(find([told, own])[0]?.conflict.tasks).toEqual([id('schema'), id('api')]);
  const first = { ...told, source_refs: [`wave-001/${id('try-index')}`] };
  const asked = answer({ delegation_id: id('schema') });
  expect(find([first, own], asked)[0]?.conflict.tasks).toEqual(['try-index', 'api'].map(id));
});

it('AK3: what the task itself had stated is corrected by the answer', () => {
  expect(find([{ ...told, source_refs: [`wave-001/${id('docs')}`] }, own])).toEqual([]);
  const second = { ...told, source_refs: ['wave-001/docs-2_1727539200'] };
  expect(find([second, own])).toEqual([]);
});

it('AK4: only answers to tasks of the wave that has ended are held against the pool', () => {
  expect(find([told, own], answer(), 3)).toEqual([]);
  expect(find([told, own], answer({ delegation_id: null }))).toEqual([]);
  expect(find([told, own], answer({ delegation_id: 'of-the-planner' }))).toEqual([]);
  const approval = inboxQuestion({ wave: 2, kind: 'approval', fact_key: 'port' });
  expect(find([told, own], answer({ question: approval }))).toEqual([]);
});

it('AK5: nothing follows where the answer holds and concerns no other task', () => {
  const ofPlanner = {
    ...told,
    source_refs: ['wave-001/planner_decision'],
    origin: 'planner',
  } as const;
  expect(find([ofPlanner, own])).toEqual([]);
  const lost = { ...own, superseded_by: 'f1' };
  expect(find([ofPlanner, lost])).toMatchObject([{ conflict: { holds: false, tasks: [] } }]);
});
