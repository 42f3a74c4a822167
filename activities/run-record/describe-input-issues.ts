import { z } from 'zod';
import { expandIssue } from '../../contracts/expand-issue.ts';
import { listNames } from '../../core/text/list-names.ts';
import { describeIssues, wholePath } from '../text/describe-issues.ts';
import { joinSentences } from './input-fault.ts';
import type { InputFault } from './input-fault.ts';

/** Everything that a schema found in a typed input, none left out, each with what was expected. */
export function describeInputIssues(error: z.ZodError, schema: z.ZodType): readonly InputFault[] {
  return error.issues.flatMap(expandIssue).flatMap((issue) => {
    const known = issue.code === 'unrecognized_keys' ? fieldsAt(schema, issue.path) : [];
    // One at a time, because a list is cut to what a model can mend at once.
    return describeIssues(new z.ZodError([issue])).map(({ path, reason, hint }) => ({
      path: path === wholePath ? 'input' : path,
      reason: joinSentences(reason, known.length === 0 ? hint : `Fields are: ${listNames(known)}`),
    }));
  });
}

/** The fields that the object at `path` may have. */
function fieldsAt(schema: z.ZodType, path: readonly PropertyKey[]): readonly string[] {
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
