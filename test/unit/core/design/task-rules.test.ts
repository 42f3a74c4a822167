import {
  rewordTask,
  taskPartOf,
  taskWordsOf,
  withoutRules,
} from '../../../../core/design/task-rules.ts';
import { findMissingParts, renderTaskInstructions } from '../../../../core/design/templates.ts';
import { samplePlan } from '../../../support/plans.ts';

const plan = samplePlan();
const [task] = plan.tasks;
if (task === undefined) throw new Error('the sample has tasks');
const doer = renderTaskInstructions(plan, task);
const architect = renderTaskInstructions(
  { ...plan, agents: plan.agents.map((one) => ({ ...one, role: 'solution_architect' as const })) },
  task,
);

it.each([
  ['doer', doer],
  ['solution_architect', architect],
])('what others read of a task of a %s has no rule of its role', (_role, whole) => {
  const shown = withoutRules(whole);
  expect(shown).toContain('## Evidence');
  expect(shown).not.toMatch(/## (Escalation|Reading and writing|Notes|Status|Turn)|MUST escalate/);
  expect(whole.startsWith(shown.trimEnd())).toBe(true);
  expect(taskPartOf(whole)).toMatch(/^## Your task\n/);
  expect(taskPartOf(whole)).not.toContain(`You are ${task.agent}`);
  expect(taskWordsOf(whole)).not.toContain('## ');
});

it.each(['List three ways.', '## Your task\nList.\n\n## Escalation\nAsk me.', ''])(
  'TR1: a text that the engine did not make stays whole: %j',
  (text) => {
    expect([withoutRules(text), taskPartOf(text), taskWordsOf(text)]).toEqual([text, text, text]);
    expect(rewordTask(text, 'Do this.')).toBe('Do this.');
  },
);

const fromInputs = (text: string): string => text.slice(text.indexOf('\n\n## Inputs\n'));

it('TR2: other words for a task keep its inputs, outputs, evidence and rules', () => {
  const words = 'Only count.\n\n## Outputs\nNone.';
  const reworded = rewordTask(doer, words);
  expect(findMissingParts(reworded, 'doer')).toEqual([]);
  expect(taskWordsOf(reworded)).toBe('Only count.\n\n#### Outputs\nNone.');
  expect(fromInputs(reworded)).toBe(fromInputs(doer));
  expect(rewordTask(reworded, 'Again.')).toBe(rewordTask(doer, 'Again.'));
});
