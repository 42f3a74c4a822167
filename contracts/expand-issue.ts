import type { z } from 'zod';

/**
 * What is wrong inside a value that may have one of several shapes: of the one shape that the value has in the main, where
 * there is one, so that nobody has to guess which part of it does not fit.
 */
export function expandIssue(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const inside = issue.errors.filter((issues) => issues.every(({ path }) => path.length > 0));
  const [only, ...others] = inside;
  if (only === undefined || others.length > 0) return [issue];
  return only.flatMap((one) => expandIssue({ ...one, path: [...issue.path, ...one.path] }));
}
