import { audienceQuestion } from '../../../rehearsal/rules/rehearsal-marks.ts';
import { question } from '../../support/scripted-work.ts';
import { campaignBudget } from './reference-run.ts';
import type { ReferenceRun } from './reference-run.ts';

/** Name of a design below its run. */
export const designTask = 'design';

/** The verifier has a finding that the designer answers, so that the plan is verified twice. */
const goal = 'Move the backups of a small shop to a second data centre [flawed]';

const { text, choices, defaultAnswer } = audienceQuestion(goal);

/**
 * A run in designed mode: an interview with a question, a plan with a proof of concept, an approval, and the work in two
 * waves. The rehearsal model looks at nothing but the request.
 */
export const runWithDesign: ReferenceRun = {
  input: () => ({
    goal,
    mode: 'designed',
    // Research of another run of the lane would save a call.
    research_max_age_days: 0,
    budget: campaignBudget,
  }),
  taskIds: [designTask],
  askings: [
    {
      asked: question(text, {
        expected_answer_format: 'choice',
        choices: [...choices],
        default_answer: defaultAnswer,
      }),
      answer: defaultAnswer,
      tooLate: choices[1] ?? '',
    },
  ],
  asksInSteps: true,
  replyTo: () => ({ pass: true }),
};
