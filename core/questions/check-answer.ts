/**
 * Checks an answer against its question, and returns it as text.
 *
 * Invariants:
 *   AN1. Every JSON value gets a verdict; nothing throws, however deep or long it is.
 *   AN2. Checking an accepted text again returns it unchanged: the text form is canonical.
 *   AN3. Other spellings are accepted only where they have one possible meaning.
 *   AN4. A refusal names the reason, and its example would be accepted.
 *   AN5. Empty or too long text, NUL and half surrogate pairs are refused; any other text is taken exactly as it is.
 *   AN6. JSON is accepted only when it fits the schema of the question.
 */
import { Validator } from '@cfworker/json-schema';
import type { Schema } from '@cfworker/json-schema';
import type { AskedQuestion, Question, QuestionKind } from '../../contracts/question.ts';
import { engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';
import { exampleAnswer } from './answer-kinds.ts';

/** Parts of a question that an answer is checked against. */
export type AnswerRule = Pick<Question, 'expected_answer_format' | 'choices' | 'default_answer'> &
  Partial<Pick<Question, 'answer_schema' | 'kind'>>;

/**
 * Returns true for a decision that lets the run act or spend. It needs the question's id and a choice in words: a number
 * that was meant for another question must not approve.
 */
export function needsExplicitWord(kind: QuestionKind | undefined): boolean {
  return (
    kind === 'approval' ||
    kind === 'plan_approval' ||
    kind === 'effect' ||
    kind === 'budget' ||
    kind === 'changes'
  );
}

export type CheckedAnswer =
  /** `text`: the canonical text form. */
  | { readonly ok: true; readonly text: string }
  /** `example`: an answer that would be accepted; null when none can be constructed. */
  | { readonly ok: false; readonly reason: string; readonly example: unknown };

/** The canonical text, or the reason of the refusal. */
export type Verdict =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string };

export function checkAnswer(question: AnswerRule, answer: unknown): CheckedAnswer {
  const verdict = judge(question, answer);
  if (verdict.ok) return verdict;
  const example = exampleAnswer(question, (value) => judge(question, value).ok);
  return { ok: false, reason: verdict.reason, example };
}

/** @returns the default as an answer, or null when there is none. */
export function parseDefault(question: AskedQuestion | AnswerRule): CheckedAnswer | null {
  return question.default_answer === null ? null : checkAnswer(question, question.default_answer);
}

/** Returns the choice with this 1-based number, or null. Works only where no choice begins with a number itself. */
export function choiceByNumber(choices: readonly string[], text: string): string | null {
  if (!/^[0-9]{1,3}$/.test(text) || choices.some((c) => /^\s*[+-]?\.?[0-9]/.test(c))) return null;
  return choices[Number(text) - 1] ?? null;
}

/** Returns the only choice with this spelling in any case, or null. */
export function choiceByCase(choices: readonly string[], text: string): string | null {
  const same = choices.filter((c) => c.trim().toLowerCase() === text.toLowerCase());
  return same.length === 1 ? (same[0] ?? null) : null;
}

function judge(question: AnswerRule, answer: unknown): Verdict {
  if (answer === undefined) return refuse('the answer is missing');
  if (typeof answer === 'string') {
    const fault = findTextFault(answer);
    if (fault !== null) return refuse(fault);
  }
  return judges[question.expected_answer_format](question, answer);
}

const judges: Record<
  Question['expected_answer_format'],
  (question: AnswerRule, answer: unknown) => Verdict
> = {
  text: (_, answer) => judgeText(answer),
  boolean: (_, answer) => judgeBoolean(answer),
  number: (_, answer) => judgeNumber(answer),
  choice: judgeChoice,
  json: (question, answer) => checkJsonAnswer(question.answer_schema ?? null, answer),
};

function judgeText(answer: unknown): Verdict {
  if (typeof answer === 'string') return { ok: true, text: answer };
  if (typeof answer === 'number' || typeof answer === 'boolean') {
    return { ok: true, text: String(answer) };
  }
  return refuse(`expected text, not ${nameType(answer)}`);
}

function judgeBoolean(answer: unknown): Verdict {
  if (typeof answer === 'boolean') return { ok: true, text: String(answer) };
  const word = typeof answer === 'string' ? answer.trim().toLowerCase() : '';
  if (word === 'true' || word === 'yes') return { ok: true, text: 'true' };
  if (word === 'false' || word === 'no') return { ok: true, text: 'false' };
  return refuse('expected true or false ("yes" and "no" are taken too)');
}

const decimal = /^[+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/;

function judgeNumber(answer: unknown): Verdict {
  const written = typeof answer === 'string' ? answer.trim() : null;
  if (written !== null && !decimal.test(written)) {
    return refuse('expected a number, with a point for decimals and no other separators');
  }
  const value = written === null ? answer : Number(written);
  if (typeof value !== 'number') return refuse(`expected a number, not ${nameType(answer)}`);
  if (!Number.isFinite(value)) return refuse('expected a finite number');
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) {
    return refuse('the number has more digits than can be kept exactly (2^53 is the most)');
  }
  return { ok: true, text: String(value) };
}

function judgeChoice({ choices, kind }: AnswerRule, answer: unknown): Verdict {
  // A choice without choices could never be answered, and the run would wait for ever.
  if (choices.length === 0) return judgeText(answer);
  const verdict = judgeText(answer);
  if (!verdict.ok) return refuse(`expected one of ${listNames(choices)}, not ${nameType(answer)}`);
  const text = verdict.text.trim();
  const choice = choices.includes(verdict.text)
    ? verdict.text
    : (choices.find((c) => c.trim() === text) ??
      choiceByCase(choices, text) ??
      (needsExplicitWord(kind) ? null : choiceByNumber(choices, text)));
  if (choice === null) return refuse(`expected one of ${listNames(choices)}`);
  return { ok: true, text: choice };
}

function nameType(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function refuse(reason: string): Verdict {
  return { ok: false, reason };
}

/** Finds texts of the user that could not be stored or shown exactly. */

/** @returns the reason why the text is refused, or null. */
export function findTextFault(text: string): string | null {
  if (text.length > engineLimits.answerCharsMax) {
    return `the answer has ${text.length} characters, the limit is ${engineLimits.answerCharsMax}`;
  }
  if (text.trim() === '') return 'the answer is empty';
  return findCharacterFault(text);
}

/** Finds characters that change on their way through files, terminals and databases. */
function findCharacterFault(text: string): string | null {
  if (text.includes('\u0000')) return 'the answer contains a NUL character';
  if (/\p{Surrogate}/u.test(text)) {
    return 'the answer contains half of a surrogate pair, which is no character';
  }
  return null;
}

/** Checks JSON answers: parses those that come as text, limits their depth and size, then applies the schema. */

/** Most schema errors that are shown. The first ones are the outermost. */
const schemaErrorsShownMax = 5;

const schemaErrorCharsMax = 200;

/**
 * @param schema If null, any JSON is accepted.
 * @param answer A JSON value, or a string that holds one. A string that fits the schema only unparsed is taken
 * unparsed.
 */
function checkJsonAnswer(
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
  const fault = findJsonFault(value);
  if (fault !== null) return { ok: false, reason: fault };
  const text = JSON.stringify(value);
  const errors = schema === null ? [] : findSchemaErrors(schema, value);
  return errors.length === 0 ? { ok: true, text } : { ok: false, reason: errors.join('; ') };
}

/** @returns the reason why no question takes the answer, or null. Such a value must not be written as JSON. */
export function findAnswerFault(answer: unknown): string | null {
  return typeof answer === 'string' ? findTextFault(answer) : findJsonFault(answer);
}

function findJsonFault(value: unknown): string | null {
  const fault = findValueFault(value, 0);
  if (fault !== null) return fault;
  const { length } = JSON.stringify(value);
  return length > engineLimits.answerCharsMax
    ? `the answer has ${length} characters as JSON, the limit is ${engineLimits.answerCharsMax}`
    : null;
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
