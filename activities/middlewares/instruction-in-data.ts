import { clearScore, scoreOrders } from '../../core/guards/score-orders.ts';
import { cutText } from '../../core/text/cut-text.ts';
import type { Middleware } from '../ports/middleware.ts';

/** Most signs that a question names. More would repeat the point. */
const shownMax = 2;

const shownCharsMax = 160;

/** Asks the user about a text that plainly gives instructions to the model that reads it, or to its tools. */
export const instructionInData: Middleware = {
  name: 'instruction-in-data',
  kind: 'guardrail',
  stages: ['input', 'output'],
  apply(text) {
    const { score, findings } = scoreOrders(text);
    if (score < clearScore) return { type: 'pass' };
    // If two signs match the same words, the stronger one is shown.
    const [first, ...rest] = findings
      .filter(({ excerpt }, at) => findings.findIndex((one) => one.excerpt === excerpt) === at)
      .slice(0, shownMax)
      .map(({ sign, excerpt }) => `${sign}: "${cutText(excerpt, shownCharsMax)}"`);
    const shown = [first, ...rest].join('; it also ');
    return {
      type: 'ask',
      reason: `It seems to give orders to the model that reads it. It ${shown}`,
    };
  },
};
