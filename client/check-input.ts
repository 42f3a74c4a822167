import type { z } from 'zod';
import { expandIssue, fieldsAt } from '../contracts/output-fault.ts';
import { describeChoices, findUnknownKey } from '../core/text/list-names.ts';
import { PlanwaveClientError } from './client-error.ts';

/**
 * Checks the fields and values of an input before it is sent.
 *
 * @param of What the input is for, such as `run`, and where it was read, if it is from a file.
 * @throws PlanwaveClientError `bad_input` with every fault at once.
 */
export function checkInput<T>(
  schema: z.ZodType<T>,
  input: unknown,
  { of, file }: { readonly of: string; readonly file?: string | undefined },
): T {
  const parsed = schema.safeParse(input, { reportInput: true });
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.flatMap(expandIssue).flatMap((issue) => {
    const { path } = issue;
    const at = path.length === 0 ? 'the input' : path.join('.');
    if (issue.code !== 'unrecognized_keys') return [`${at}: ${describeIssue(issue)}`];
    const known = fieldsAt(schema, path);
    return issue.keys.map((key) => `${at}: ${findUnknownKey({ [key]: null }, known)}`);
  });
  const where = file === undefined ? '' : ` (from ${file})`;
  const message = `The input of the ${of}${where} is not valid. ${faults.join('; ')}`;
  throw new PlanwaveClientError('bad_input', message);
}

/** Words an issue whose schema has no words of its own: the library's are for programmers. */
export function describeIssue(issue: z.core.$ZodIssue): string {
  const isRaw = /^(?:Too (?:big|small)|Invalid (?:input|option)): expected /.test(issue.message);
  if (!isRaw) return issue.message;
  if (issue.code === 'invalid_value') return describeChoices(issue.input, issue.values.map(String));
  if (issue.code === 'too_big')
    return `expected at most ${countOfIssue(issue.maximum, issue.origin)}`;
  if (issue.code === 'too_small') {
    const bound = issue.inclusive === false ? 'more than' : 'at least';
    return `expected ${bound} ${countOfIssue(issue.minimum, issue.origin)}`;
  }
  if (issue.code === 'invalid_type') {
    const isMissing = issue.message.endsWith('received undefined');
    return isMissing ? `missing, expected ${issue.expected}` : `expected ${issue.expected}`;
  }
  return issue.message;
}

const units: Readonly<Record<string, string>> = { string: ' characters', array: ' entries' };

function countOfIssue(count: number | bigint, origin: string): string {
  return `${count.toLocaleString('en')}${units[origin] ?? ''}`;
}
