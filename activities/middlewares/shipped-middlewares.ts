import { clearScore, scoreOrders } from '../../core/guards/score-orders.ts';
import { engineLimits } from '../../core/limits.ts';
import { cutText } from '../../core/text/cut-text.ts';
import type { Middleware } from '../ports/middleware.ts';
import type { Redactor } from '../ports/redactor.ts';

const mark = /\[redacted:([a-z0-9-]{1,60})\]/g;

/**
 * Says how many secrets a text held, and of what kind. What is kept, sent or shown has none anyway (docs/secrets.md), so
 * by the time it looks marks stand in most of their places; it takes out what is still there.
 */
function createRedactSecrets(redactor: Pick<Redactor, 'redactText'>): Middleware {
  return {
    name: 'redact-secrets',
    kind: 'middleware',
    stages: ['input', 'output'],
    apply(text) {
      const redacted = redactor.redactText(text, 'middleware');
      const rules = [...redacted.matchAll(mark)].map(([, rule = '']) => rule);
      if (rules.length === 0) return { type: 'pass' };
      const kinds = [...new Set(rules)].toSorted().join(', ');
      const note =
        rules.length === 1
          ? `1 secret was taken out (${kinds})`
          : `${rules.length} secrets were taken out (${kinds})`;
      return { type: 'pass', text: redacted, note };
    },
  };
}

interface SizeLimits {
  /** Characters (UTF-16 code units) of a message. */
  readonly input: number;
  /** Characters of each text of an output. */
  readonly output: number;
}

const cures = {
  input:
    'Try: say in the message what matters, and put long material into files or into results of earlier delegations that the task names as its inputs.',
  output: 'Try: ask for a shorter result, or for parts as results of their own.',
} as const;

/** Blocks texts that are too long to be read with care. */
function createSizeLimit(
  limits: SizeLimits = {
    input: engineLimits.guardedInputCharsMax,
    output: engineLimits.guardedOutputCharsMax,
  },
): Middleware {
  return {
    name: 'size-limit',
    kind: 'guardrail',
    stages: ['input', 'output'],
    apply(text, { stage }) {
      const most = limits[stage];
      if (text.length <= most) return { type: 'pass' };
      const what = stage === 'input' ? 'The message' : 'The text';
      return {
        type: 'block',
        reason: `${what} has ${text.length} characters, at most ${most} pass. ${cures[stage]}`,
      };
    },
  };
}

/** Most signs that a question names. More would repeat the point. */
const shownMax = 2;

const shownCharsMax = 160;

/** Asks the user about a text that plainly gives instructions to the model that reads it, or to its tools. */
const instructionInData: Middleware = {
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

/** Creates the middlewares and guardrails that every worker has. */
export function createShippedMiddlewares(
  redactor: Pick<Redactor, 'redactText'>,
): readonly Middleware[] {
  return [createRedactSecrets(redactor), createSizeLimit(), instructionInData];
}
