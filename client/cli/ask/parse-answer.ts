import type { AnswerFormat, Question } from '../../../contracts/question.ts';

const yes: ReadonlySet<string> = new Set(['y', 'yes', 'true']);
const no: ReadonlySet<string> = new Set(['n', 'no', 'false']);

/**
 * What was typed, as the type the question asks for. A text that fits no reading is passed on as it is: the run
 * decides what is a good answer, and explains what is not.
 */
export function parseAnswer(
  question: Pick<Question, 'expected_answer_format' | 'choices'>,
  typed: string,
): unknown {
  return readers[question.expected_answer_format](typed, question.choices);
}

const readers: Readonly<
  Record<AnswerFormat, (typed: string, choices: readonly string[]) => unknown>
> = {
  text: (typed) => typed,
  boolean: parseBoolean,
  number: parseNumber,
  choice: parseChoice,
  json: parseJson,
};

function parseBoolean(typed: string): unknown {
  const word = typed.trim().toLowerCase();
  if (yes.has(word)) return true;
  return no.has(word) ? false : typed;
}

/** A number that JavaScript would change, such as one with twenty digits, is left to the run as text. */
function parseNumber(typed: string): unknown {
  const number = Number(typed.trim());
  return String(number) === typed.trim() && Number.isFinite(number) ? number : typed;
}

/** The words of a choice win over its number, because a choice may itself be a number. */
function parseChoice(typed: string, choices: readonly string[]): unknown {
  const word = typed.trim();
  if (choices.includes(word)) return word;
  const alike = choices.filter((choice) => choice.trim().toLowerCase() === word.toLowerCase());
  if (alike.length === 1) return alike[0];
  return (/^\d{1,3}$/.test(word) ? choices[Number(word) - 1] : undefined) ?? typed;
}

function parseJson(typed: string): unknown {
  try {
    return JSON.parse(typed) as unknown;
  } catch {
    return typed;
  }
}

/** What a person types for an answer: a string as it is, anything else as JSON. */
export function answerText(answer: unknown): string {
  return typeof answer === 'string' ? answer : (JSON.stringify(answer) ?? '');
}
