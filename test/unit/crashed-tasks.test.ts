import { outcome } from './core/builders.ts';
import { listCrashed } from '../../workflows/planner-run/run-questions.ts';

it('the user is asked about tasks of the plan that crashed, and not about decisions, which no wave does again', () => {
  const crashed = { status: 'failed', reason: 'It broke off.', crashes: 3 } as const;
  const outcomes = [
    outcome('facts_1727539200', crashed),
    outcome('decision_w1n1_1727539200', { ...crashed, decides: true }),
    outcome('page_1727539200', { status: 'failed' }),
  ];
  expect(listCrashed({ outcomes })).toEqual([
    { delegation_id: 'facts_1727539200', title: 'Task facts_1727539200', reason: 'It broke off.' },
  ]);
});
