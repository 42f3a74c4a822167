import { checkJudged, keysOfProof, keysOfReview } from '../../../../core/design/rate-change.ts';

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
