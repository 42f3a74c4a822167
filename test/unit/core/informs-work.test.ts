import { informsWork } from '../../../core/questions/answer-kinds.ts';

it.each([
  ['blocking', true],
  ['planner', true],
  ['approval', false],
  ['effect', false],
  ['budget', false],
  ['waves_spent', false],
  ['planner_stuck', false],
  [undefined, true],
] as const)('IW1: an answer to a question of kind %s becomes a fact: %s', (kind, does) => {
  expect(informsWork(kind)).toBe(does);
});
