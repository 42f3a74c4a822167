import { z } from 'zod';

const count = (description: string): z.ZodOptional<z.ZodNumber> =>
  z.number().int().min(1).max(100_000).optional().describe(description);

/** Limits that a user may set per run. Missing ones come from `core/limits.ts`. */
export const LimitsInput = z.strictObject({
  max_waves: count('Waves before the run asks whether to go on.'),
  max_parallel: count('Delegations that work at the same time, over the whole run.'),
  max_delegations: count('Delegations in one wave.'),
  max_turns: count('Model calls of one delegation.'),
  inline_events: count(
    "Events of a wave's history up to which its delegations run inside it. A later one is a workflow of its own.",
  ),
  max_output_tokens: count('Output tokens of one model call, at first. Truncation raises it.'),
});
export type LimitsInput = z.infer<typeof LimitsInput>;

/** The limits of a run, with every field set. */
export type RunLimits = { readonly [K in keyof LimitsInput]-?: NonNullable<LimitsInput[K]> };
