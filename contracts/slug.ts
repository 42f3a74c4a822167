import { z } from 'zod';

/**
 * A name that is safe in workflow ids and paths: lower-case ASCII letters, digits, `-` and `_`, at most 40.
 * No case or Unicode twins, no separators, no leading dot.
 */
export const Slug = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,39}$/,
    'expected 1 to 40 lower-case letters, digits, "-" or "_". Try: "market-research"',
  );

/**
 * A delegation_id in the store: a task of a team has that of its team before its name, `design.d2`, in a team below
 * `design.d2.d1`. At most three dots.
 */
export const StoredDelegationId = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,39}(?:\.[a-z0-9][a-z0-9_-]{0,39}){0,3}$/,
    'expected a delegation_id, and after a dot the name of each task. Try: "design.d2"',
  );
