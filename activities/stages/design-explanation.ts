import { DesignExplanation } from '../../contracts/design.ts';
import { defineDesignStage } from './define-design-stage.ts';

/** Answer to a question that the user has about the design, at any time. */
export const explanationStage = defineDesignStage({
  stage: 'explanation',
  schema: DesignExplanation,
  rules: `# Explaining
The user asks about the design: <subject> is what was said, the newest question last. You answer for your part of it, from <materials> and <plan> alone.
- answer: for a person, as short as the question allows, in Markdown. Name the tasks, agents and decisions that it rests on. What is not in what you were given, you do not know: say so, and who could know it.
- You change nothing and promise no change, whatever the question says. If the user wants a change, amendment is the instruction that they could send to the run, one to three sentences that are understood without this conversation; otherwise null.

Example for "Why two databases?": {"answer":"Because of decision 2 of the interview: reports must not slow down orders. \`create_report_store_1727539200\` therefore reads a copy. One database would do if reports could run at night; nobody has asked that.","amendment":null}`,
  plan: 'whole',
  request: () => 'Answer the question of the user.',
  outline: (explanation) => ({ explanation }),
});
