import type { CoordinationPlan } from '../../../../contracts/coordination-plan.ts';
import { checkCoordinationPlan } from '../../../../core/design/check-plan-file.ts';
import { planAgents, samplePlan, withTask } from '../../../support/plans.ts';

const check = (plan: CoordinationPlan): [string, string][] =>
  checkCoordinationPlan(plan, { agents: planAgents }).map(({ rule, path }) => [rule, path]);

const withProof = (over: object): CoordinationPlan =>
  withTask(0, ({ proof_of_concept: proof }) => ({
    proof_of_concept: proof === null ? null : { ...proof, ...over },
  }));

const withRisk = (over: object): CoordinationPlan =>
  samplePlan({ risks: samplePlan().risks.map((risk) => ({ ...risk, ...over })) });

/** Each fault with the one rule and the one place that report it. */
const faults: readonly [string, string, string, CoordinationPlan][] = [
  [
    'DP8: a placeholder',
    'DP8',
    'tasks/3/instructions',
    withTask(3, () => ({ instructions: 'Write the docs.\n\nTODO' })),
  ],
  [
    'DP8: a hole of a template',
    'DP8',
    'tasks/3/instructions',
    withTask(3, () => ({ instructions: 'Write the docs for {{audience}}.' })),
  ],
  [
    'DP8: a hole in a title',
    'DP8',
    'tasks/3/title',
    withTask(3, () => ({ title: 'Write {{what}}' })),
  ],
  [
    'DP8: a placeholder for success',
    'DP8',
    'tasks/0/proof_of_concept/success_criteria/1',
    withProof({ success_criteria: ['All users are listed in 200 ms.', 'TBD'] }),
  ],
  [
    'DP8: a hole in what is a failure',
    'DP8',
    'tasks/0/proof_of_concept/failure_criteria/0',
    withProof({ failure_criteria: ['More than [insert the limit].'] }),
  ],
  [
    'DP8: a placeholder for an assumption',
    'DP8',
    'risks/0/assumption',
    withRisk({ assumption: 'TODO' }),
  ],
  [
    'DP8: a placeholder for a mitigation',
    'DP8',
    'risks/0/mitigation',
    withRisk({ mitigation: 'To be determined' }),
  ],
  ['DP8: dots for a title', 'DP8', 'tasks/3/title', withTask(3, () => ({ title: '...' }))],
  [
    'DP8: a hole for success',
    'DP8',
    'tasks/0/proof_of_concept/success_criteria/0',
    withProof({ success_criteria: ['[insert success]'] }),
  ],
  [
    'DP9: instructions without room for the rules',
    'DP9',
    'tasks/3/instructions',
    withTask(3, () => ({ instructions: 'x'.repeat(19_000) })),
  ],
  ['DP27: a plan without escalation', 'DP27', 'escalation', samplePlan({ escalation: [] })],
  ...['TBD', 'TODO: say who is asked first, and when the user is'].map(
    (step): [string, string, string, CoordinationPlan] => [
      `DP27: the escalation "${step}"`,
      'DP27',
      'escalation',
      samplePlan({ escalation: [step] }),
    ],
  ),
];

describe('checkTexts', () => {
  it.each(faults)('%s is the one finding', (_name, rule, path, plan) => {
    expect(check(plan)).toEqual([[rule, path]]);
  });

  it.each([
    'Remove each TODO from the public pages of the manual',
    'Build the todo app',
    'Create the todo table',
    'Add a placeholder image',
    'Decide what to do next',
    'No TODO is left',
    '# C# service',
  ])('DP8, DP27: %j is a title, a criterion, a risk and a step', (text) => {
    expect(check(withTask(3, () => ({ title: text })))).toEqual([]);
    expect(check(withProof({ success_criteria: [text], failure_criteria: [text] }))).toEqual([]);
    expect(check(withRisk({ assumption: text, mitigation: text }))).toEqual([]);
    expect(check(samplePlan({ escalation: [text] }))).toEqual([]);
  });
});
