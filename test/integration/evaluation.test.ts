import type { EvaluationResult } from '../../contracts/evaluation.ts';

import { useStage } from '../support/use-stage.ts';

const { stage } = useStage();

const file = {
  name: 'two-by-two',
  goals: [
    { name: 'backup', goal: 'Compare three ways to store a backup' },
    {
      name: 'summary',
      goal: 'Summarise what a backup needs',
      criteria: ['It names what is needed.'],
      graders: [{ kind: 'criteria' }, { kind: 'schema', schema: { type: 'object' } }],
    },
  ],
  settings: [
    { name: 'alone', run: 'model' },
    { name: 'planned', run: 'direct' },
  ],
  graders: [
    { kind: 'regex', pattern: 'rehears', flags: 'i' },
    { kind: 'rubric', rubric: 'It says what it is.', pass_at: 0.5 },
  ],
};

it('runs a matrix, judges it, and buys nothing again', async () => {
  const run = await stage.start('evaluation', file, 'eval-matrix');
  const result: EvaluationResult = await run.result();
  console.log(JSON.stringify(result, null, 1));
  expect(result.cells).toHaveLength(4);
}, 120_000);
