import { z } from 'zod';
import { limitMaxima } from './limit-maxima.ts';

const count = (max: number, description: string): z.ZodOptional<z.ZodNumber> =>
  z.number().int().min(1).max(max).optional().describe(description);

/** Limits that a user may set per run. Missing ones come from `core/limits.ts`. */
export const LimitsInput = z.strictObject({
  max_waves: count(limitMaxima.max_waves, 'Waves before the run asks whether to go on.'),
  max_parallel: count(
    limitMaxima.max_parallel,
    'Delegations that work at the same time, over the whole run.',
  ),
  max_delegations: count(limitMaxima.max_delegations, 'Delegations in one wave.'),
  max_turns: count(limitMaxima.max_turns, 'Model calls of one delegation.'),
  inline_events: count(
    limitMaxima.inline_events,
    "Events of a wave's history up to which its delegations run inside it. A later one is a workflow of its own.",
  ),
  max_signals: count(
    limitMaxima.max_signals,
    'Signals to a run after which it ends its wave early and continues as new. The server takes 10,000.',
  ),
  max_output_tokens: count(
    limitMaxima.max_output_tokens,
    'Output tokens of one model call, at first. Truncation raises it; models limit it.',
  ),
});
export type LimitsInput = z.infer<typeof LimitsInput>;

/** The limits of a run, with every field set. */
export type RunLimits = { readonly [K in keyof LimitsInput]-?: NonNullable<LimitsInput[K]> };
