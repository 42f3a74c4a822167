/** Checks JSON answers: parses those that come as text, limits their depth and size, then applies the schema. */
import { Validator } from '@cfworker/json-schema';
import type { Schema } from '@cfworker/json-schema';
import { engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';
import { findCharacterFault } from './find-text-fault.ts';

type Verdict =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string };

/** Most schema errors that are shown. The first ones are the outermost. */
const schemaErrorsShownMax = 5;

const schemaErrorCharsMax = 200;

/**
 * @param schema If null, any JSON is accepted.
 * @param answer A JSON value, or a string that holds one. A string that fits the schema only unparsed is taken
 * unparsed.
 */
export function checkJsonAnswer(
  schema: Readonly<Record<string, unknown>> | null,
  answer: unknown,
): Verdict {
  if (typeof answer !== 'string') return judgeValue(schema, answer);
  const parsed = parseJson(answer);
  const verdict: Verdict = parsed.ok
    ? judgeValue(schema, parsed.value)
    : { ok: false, reason: 'expected JSON; the text cannot be parsed' };
  if (verdict.ok || schema === null) return verdict;
  const asItIs = judgeValue(schema, answer);
  return asItIs.ok ? asItIs : verdict;
}

function judgeValue(schema: Readonly<Record<string, unknown>> | null, value: unknown): Verdict {
  const fault = findValueFault(value, 0);
  if (fault !== null) return { ok: false, reason: fault };
  const text = JSON.stringify(value);
  if (text.length > engineLimits.answerCharsMax) {
    const limit = engineLimits.answerCharsMax;
    return {
      ok: false,
      reason: `the answer has ${text.length} characters as JSON, the limit is ${limit}`,
    };
  }
  const errors = schema === null ? [] : findSchemaErrors(schema, value);
  return errors.length === 0 ? { ok: true, text } : { ok: false, reason: errors.join('; ') };
}

/** Stops at the deepest allowed level: a deeper value would overflow the stack of JSON.stringify too. */
function findValueFault(value: unknown, depth: number): string | null {
  if (depth > engineLimits.answerDepthMax) {
    return `the answer is nested deeper than ${engineLimits.answerDepthMax} levels`;
  }
  if (typeof value === 'string') return findCharacterFault(value);
  if (typeof value === 'number') {
    return Number.isFinite(value) ? null : 'the answer contains a number that JSON does not have';
  }
  if (value === null || typeof value === 'boolean') return null;
  if (typeof value !== 'object') return `the answer contains a ${typeof value}, which is no JSON`;
  for (const [key, item] of Object.entries(value)) {
    const fault = findCharacterFault(key) ?? findValueFault(item, depth + 1);
    if (fault !== null) return fault;
  }
  return null;
}

function findSchemaErrors(schema: Readonly<Record<string, unknown>>, value: unknown): string[] {
  try {
    // A copy, because the validator writes its marks into the schema that it gets.
    const copy: Schema = JSON.parse(JSON.stringify(schema));
    const { errors } = new Validator(copy, '2020-12', false).validate(value);
    const inner = errors.filter((e) => !wrapperKeywords.has(e.keyword));
    return (inner.length > 0 ? inner : errors)
      .slice(0, schemaErrorsShownMax)
      .map((e) => cutText(`at ${pathOf(e.instanceLocation)}: ${e.error}`, schemaErrorCharsMax));
  } catch {
    // A broken schema is no fault of the answer: refusing would make the question unanswerable.
    return [];
  }
}

/** Keywords whose errors only say that something inside them failed. */
const wrapperKeywords: ReadonlySet<string> = new Set([
  'properties',
  'items',
  'additionalProperties',
  '$ref',
  'allOf',
]);

/** Returns `/a/b` for `#/a/b`. */
function pathOf(instanceLocation: string): string {
  const path = instanceLocation.replace(/^#/, '');
  return path === '' ? 'the top' : path;
}

function parseJson(text: string): { ok: true; value: unknown } | { ok: false } {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false };
  }
}
