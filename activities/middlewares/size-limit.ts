import { engineLimits } from '../../core/limits.ts';
import type { Middleware } from '../ports/middleware.ts';

export interface SizeLimits {
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
export function createSizeLimit(
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
