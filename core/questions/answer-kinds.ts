import { answererNames, assumingAnswerers, chatAnswerer } from '../../contracts/names.ts';
import type { AskedQuestion, QuestionKind, Question } from '../../contracts/question.ts';
import { engineLimits } from '../limits.ts';
import { isRecord } from '../json.ts';

const nobody: readonly string[] = [
  ...assumingAnswerers,
  answererNames.planner,
  answererNames.architect,
  answererNames.engine,
  chatAnswerer,
];

/** Returns true for an answer that a person signed: no default, no assumption, not the planner, not the engine and no chat client's model. */
export function isPerson(answeredBy: string): boolean {
  return !nobody.includes(answeredBy);
}

/**
 * Selects the answers that are about the work.
 *
 * Invariants:
 *   IW1. The answer to a model's question about its work becomes a fact and is shown to others; a decision on how the
 *        run continues is neither.
 */

/** @param kind Undefined when unknown: then the answer is shown rather than lost. */
export function informsWork(kind: QuestionKind | undefined): boolean {
  return kind === undefined || kind === 'blocking' || kind === 'planner' || kind === 'design';
}

/**
 * An answer that a question would take, for people who see why theirs was not.
 */

type Rule = Pick<Question, 'expected_answer_format' | 'choices' | 'default_answer'> &
  Partial<Pick<Question, 'answer_schema'>>;

/** Nesting of a made-up JSON example. */
const sampleDepthMax = 6;

/**
 * @param isTaken The rule itself: an example that it refuses is not shown.
 * @returns null when none of the candidates is taken.
 */
export function exampleAnswer(question: Rule, isTaken: (answer: unknown) => boolean): unknown {
  const candidates = [...defaultOf(question), ...samplesOf(question)];
  return candidates.find((c) => isShort(c) && isTaken(c)) ?? null;
}

function defaultOf(question: Rule): unknown[] {
  const text = question.default_answer;
  if (text === null) return [];
  if (question.expected_answer_format === 'choice' || question.expected_answer_format === 'text') {
    return [text];
  }
  try {
    return [JSON.parse(text) as unknown, text];
  } catch {
    return [text];
  }
}

function samplesOf(question: Rule): readonly unknown[] {
  const schema = question.answer_schema ?? null;
  const samples: Record<Question['expected_answer_format'], readonly unknown[]> = {
    text: ['your answer'],
    boolean: [true],
    number: [3],
    choice: [...question.choices, 'your answer'],
    json:
      schema === null ? [{ key: 'value' }] : [sampleOf(schema, 0), {}, [], 'your answer', 1, true],
  };
  return samples[question.expected_answer_format];
}

/** A small value that tries to fit the schema. The caller checks whether it does. */
function sampleOf(schema: unknown, depth: number): unknown {
  if (!isRecord(schema) || depth > sampleDepthMax) return {};
  for (const key of ['examples', 'enum']) {
    const values = schema[key];
    if (Array.isArray(values) && values.length > 0) return values[0] as unknown;
  }
  if ('const' in schema) return schema['const'];
  if ('default' in schema) return schema['default'];
  for (const key of ['anyOf', 'oneOf']) {
    const options = schema[key];
    if (Array.isArray(options)) return sampleOf(options[0], depth + 1);
  }
  return sampleOfType(schema, depth);
}

function sampleOfType(schema: Readonly<Record<string, unknown>>, depth: number): unknown {
  const type: unknown = Array.isArray(schema['type']) ? schema['type'][0] : schema['type'];
  switch (type) {
    case 'string':
      return 'text';
    case 'number':
    case 'integer':
      return typeof schema['minimum'] === 'number' ? schema['minimum'] : 1;
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'array':
      return [sampleOf(schema['items'], depth + 1)];
    default:
      return sampleObject(schema, depth);
  }
}

function sampleObject(schema: Readonly<Record<string, unknown>>, depth: number): unknown {
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const required: unknown[] = Array.isArray(schema['required']) ? schema['required'] : [];
  const names = required.filter((name) => typeof name === 'string');
  return Object.fromEntries(names.map((name) => [name, sampleOf(properties[name], depth + 1)]));
}

function isShort(value: unknown): boolean {
  return value !== undefined && JSON.stringify(value).length <= engineLimits.exampleAnswerCharsMax;
}

/** Choice of a person when the engine alone can't go on, without its text. */
export const retryOrAbandon = {
  priority: 'critical',
  expected_answer_format: 'choice',
  choices: ['retry', 'abandon'],
  default_answer: 'abandon',
} as const satisfies Partial<AskedQuestion>;
