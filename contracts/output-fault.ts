import { z } from 'zod';

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

/** Lists the fields that the object at `path` may have; none for what is no object. */
export function fieldsAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
  let at: unknown = schema;
  for (const key of path) at = stepInto(unwrap(at), key);
  const object = unwrap(at);
  return object instanceof z.ZodObject ? Object.keys(object.shape) : [];
}

function stepInto(schema: unknown, key: PropertyKey): unknown {
  if (schema instanceof z.ZodObject) return schema.shape[String(key)];
  return schema instanceof z.ZodArray ? schema.element : undefined;
}

function unwrap(schema: unknown): unknown {
  if (schema instanceof z.ZodOptional) return unwrap(schema.unwrap());
  if (schema instanceof z.ZodPipe) return unwrap(schema.in);
  if (!(schema instanceof z.ZodUnion)) return schema;
  return schema.options.map(unwrap).find(hasFields);
}

function hasFields(schema: unknown): boolean {
  return schema instanceof z.ZodObject || schema instanceof z.ZodArray;
}
