import type { StoredAnswer } from '../../../../contracts/run-record.ts';
import { inboxQuestion } from '../../../support/factories.ts';
import { samplePlan } from '../../../support/plans.ts';
import { fact } from '../pool-builders.ts';
import type { Fact } from '../../../../contracts/agent-output.ts';
import { findAnswerConflicts } from '../../../../core/design/architect-task.ts';

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
