import type { z } from 'zod';

/** One breach of a shape or a rule, worded for the model that has to repair it (seed 001: errors carry a hint). */
export interface OutputFault {
  /** Path in the output: `coverage.criteria_met[0].evidence`. */
  readonly path: string;
  readonly reason: string;
  /** Advice that begins with "Try: ". */
  readonly hint: string;
}

/**
 * Expands an issue of a union into the issues of the one shape that the value most resembles, if there is one, so that
 * the invalid part is visible.
 */
export function expandIssue(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const inside = issue.errors.filter((issues) => issues.every(({ path }) => path.length > 0));
  const [only, ...others] = inside;
  if (only === undefined || others.length > 0) return [issue];
  return only.flatMap((one) => expandIssue({ ...one, path: [...issue.path, ...one.path] }));
}
