/**
 * Builds the commands that answer a question, safe to paste into a POSIX shell.
 *
 * Invariants:
 *   CM1. Each word of a command reaches its program exactly, whatever it contains.
 *   CM2. The answer in the command is one that the question accepts, where one can be constructed.
 */
import type { Question } from '../../contracts/question.ts';
import { signalNames } from '../../contracts/names.ts';
import { checkAnswer } from '../questions/check-answer.ts';
import { exampleAnswer } from '../questions/example-answer.ts';
import { cleanLine } from '../text/clean-line.ts';

/** Longest word, in characters. A longer one would make a command that people run unread. */
const wordCharsMax = 300;

/** Returns the client's command, then the Temporal CLI's. */
export function answerCommands(runId: string, question: Question): string[] {
  const answer = pickAnswer(question);
  const word = typeof answer === 'string' ? answer : JSON.stringify(answer);
  // Commander would read a leading dash as an option.
  const end = word.startsWith('-') ? '-- ' : '';
  const { question_id } = question;
  return [
    `npm run planwave -- answer ${quoteWord(runId)} ${question_id} ${end}${quoteWord(word)}`,
    signalCommand(runId, signalNames.answer, { question_id, answer }),
  ];
}

export function signalCommand(runId: string, name: string, payload: object): string {
  const input = quoteWord(escapeUnseen(JSON.stringify(payload)));
  return `temporal workflow signal --workflow-id ${quoteWord(runId)} --name ${name} --input ${input}`;
}

/** Quotes one word for a POSIX shell: unchanged when harmless, otherwise in single quotes. */
export function quoteWord(word: string): string {
  if (/^[A-Za-z0-9_@%+:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** Picks an answer that a command can show unchanged: the default, a choice, its number, or a placeholder. */
function pickAnswer(question: Question): unknown {
  const isTaken = (answer: unknown): boolean => isPlain(answer) && checkAnswer(question, answer).ok;
  const numbers = question.choices.map((_, i) => i + 1);
  return exampleAnswer(question, isTaken) ?? numbers.find(isTaken) ?? 'your answer';
}

/**
 * Accepts no line breaks, controls, or characters that hide or reorder text, so that people see exactly what is sent.
 */
function isPlain(answer: unknown): boolean {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  return cleanLine(text, wordCharsMax) === text;
}

/** Replaces characters that are invisible or reorder others by JSON escapes. */
function escapeUnseen(json: string): string {
  return json.replace(
    /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu,
    (character) => String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
