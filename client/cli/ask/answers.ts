import type {
  AnswerFormat,
  AnswerInput,
  Question,
  RejectedAnswer,
} from '../../../contracts/question.ts';
import type { OpenQuestion } from '../../../contracts/views.ts';
import { needsExplicitWord } from '../../../core/questions/check-answer.ts';
import type { AnswerResult } from '../../submit-answer.ts';
import { cleanLine } from '../terminal-text.ts';
import { commandText } from '../../../core/text/format.ts';

const yes: ReadonlySet<string> = new Set(['y', 'yes', 'true']);
const no: ReadonlySet<string> = new Set(['n', 'no', 'false']);

/**
 * Reads typed text as the type that the question asks for. A text that does not fit is passed on unchanged: the run
 * decides what is a good answer, and explains what is not.
 */
export function parseAnswer(
  question: Pick<Question, 'expected_answer_format' | 'choices'> & Partial<Pick<Question, 'kind'>>,
  typed: string,
): unknown {
  // The run takes such a decision in words only, and says so.
  if (needsExplicitWord(question.kind)) return typed;
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

/** Returns what a person types for an answer: a string unchanged, anything else as JSON. */
export function answerText(answer: unknown): string {
  return typeof answer === 'string' ? answer : (JSON.stringify(answer) ?? '');
}

/** A question, and the text that was typed for it: null when no answer was typed. */
type AnswerTarget =
  | {
      readonly type: 'questions';
      /** One when it is clear which question is meant, else all that are open. */
      readonly candidates: readonly OpenQuestion[];
      readonly text: string | null;
    }
  /** Not among the open questions, or these could not be listed: the run decides. */
  | { readonly type: 'id_only'; readonly question_id: string; readonly text: string }
  | { readonly type: 'unclear'; readonly message: string; readonly text: null };

const questionId = /^q[0-9]+$/;

/**
 * Reads the words behind `answer <run>`: `[question_id] [answer…]`.
 *
 * @param open the open questions, or null when no worker could list them
 * @param note why they could not be listed
 */
export function resolveAnswer(
  words: readonly string[],
  open: readonly OpenQuestion[] | null,
  note: string | null,
): AnswerTarget {
  const [first, ...rest] = words;
  if (first === undefined) return withoutWords(open, note);
  const asked = open?.find((question) => question.question_id === first);
  const text = rest.length === 0 ? null : rest.join(' ');
  if (asked !== undefined) return { type: 'questions', candidates: [asked], text };
  if (questionId.test(first)) {
    return text === null
      ? unclear(describeOpen(open, note))
      : { type: 'id_only', question_id: first, text };
  }
  const [only, ...others] = open ?? [];
  const isClear = only !== undefined && others.length === 0 && !needsExplicitWord(only.kind);
  if (isClear) return { type: 'questions', candidates: [only], text: words.join(' ') };
  return unclear(describeOpen(open, note));
}

function withoutWords(open: readonly OpenQuestion[] | null, note: string | null): AnswerTarget {
  if (open === null || open.length === 0) return unclear(describeOpen(open, note));
  return { type: 'questions', candidates: open, text: null };
}

function describeOpen(open: readonly Question[] | null, note: string | null): string {
  if (open === null) {
    return `The open questions can't be listed, so the id and the answer are both needed, such as: q1 yes. ${note ?? ''}`;
  }
  if (open.length === 0) return 'No question is open.';
  return `Which question is meant? Open: ${open.map((question) => question.question_id).join(', ')}.`;
}

function unclear(message: string): AnswerTarget {
  return { type: 'unclear', message: message.trim(), text: null };
}

/** Returns the signature of an answer. @param signer The name that was given with `--as`; if undefined, none. */
export function signatureOf(signer: string | undefined): Pick<AnswerInput, 'answered_by'> {
  return signer === undefined ? {} : { answered_by: signer };
}

/** Returns true if only others may decide a question, so that asking this person again leads nowhere. */
export function isForOthers({ approvers }: OpenQuestion, signer: string | undefined): boolean {
  return approvers !== undefined && !approvers.includes(signer?.trim() ?? '');
}

/** Describes the outcome of an answer in one or two lines. */
export function describeAnswerResult(runId: string, result: AnswerResult): string[] {
  const id = cleanLine(result.question_id);
  switch (result.status) {
    case 'accepted':
      return [
        result.accepted === null
          ? `${id} answered.`
          : `${id} answered: ${cleanLine(result.accepted, 200)}`,
      ];
    case 'sent':
      return [`${id}: ${result.note}`];
    case 'refused':
      return [refusalText(runId, result)];
  }
  return [];
}

/**
 * Finds why the run refused an answer that was sent while no worker took it.
 *
 * @param before what the run had refused when it was sent
 * @returns null while it has not been refused.
 */
export function findRefusal(
  rejected: readonly RejectedAnswer[],
  id: string,
  before: readonly RejectedAnswer[],
): Refusal | null {
  const isNew = ({ rejected_at, reason }: RejectedAnswer): boolean =>
    !before.some((one) => one.rejected_at === rejected_at && one.reason === reason);
  const found = rejected.findLast((one) => one.question_id === id && isNew(one));
  if (found === undefined) return null;
  const { reason, example } = found;
  return { status: 'refused', question_id: id, reason, example };
}

export type Refusal = Extract<AnswerResult, { status: 'refused' }>;

/** The run's reason, and the command with an answer that would be taken. */
export function refusalText(runId: string, { question_id, reason, example }: Refusal): string {
  const id = cleanLine(question_id);
  const text = `${id} was not answered: ${withoutId(cleanLine(reason), id)}`;
  if (example === null) return text;
  const command = commandText('answer', runId, example.question_id, answerText(example.answer));
  return `${text.replace(/\.$/, '')}. For example: ${command}`;
}

/** Removes the question's id from the start of a reason, where it is shown before it. */
export function withoutId(reason: string, id: string): string {
  return reason.startsWith(`${id}: `) ? reason.slice(id.length + 2) : reason;
}
