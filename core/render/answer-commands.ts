/**
 * The exact commands that answer a question, safe to paste into a POSIX shell.
 *
 * Invariants:
 *   CM1. Every word of a command reaches its program exactly, whatever it contains.
 *   CM2. The answer in the command is one that the question takes, where one can be made up.
 */
import type { Question } from '../../contracts/question.ts';
import { signalNames } from '../../contracts/names.ts';
import { checkAnswer } from '../questions/check-answer.ts';
import { exampleAnswer } from '../questions/example-answer.ts';
import { cleanLine } from '../text/clean-line.ts';

/** A longer word makes a command that nobody reads before running it. */
const wordCharsMax = 300;

/** First the client's, then the Temporal CLI's. */
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

/** One word for a POSIX shell: as it is when harmless, else in single quotes. */
export function quoteWord(word: string): string {
  if (/^[A-Za-z0-9_@%+:,./-]+$/.test(word)) return word;
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** One that reads in a command as it is: the default, a choice, its number, or a stand-in. */
function pickAnswer(question: Question): unknown {
  const isTaken = (answer: unknown): boolean => isPlain(answer) && checkAnswer(question, answer).ok;
  const numbers = question.choices.map((_, i) => i + 1);
  return exampleAnswer(question, isTaken) ?? numbers.find(isTaken) ?? 'your answer';
}

/** No line breaks, no controls, nothing that hides or reorders: what is read is what is sent. */
function isPlain(answer: unknown): boolean {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  return cleanLine(text, wordCharsMax) === text;
}

/** Characters that are not seen, or that reorder others, as JSON escapes. */
function escapeUnseen(json: string): string {
  return json.replace(
    /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu,
    (character) => String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
