import type { Question } from '../../../contracts/question.ts';
import type { CliIo } from '../cli-io.ts';
import { createPaint } from '../text/paint.ts';
import { answerHint, describeQuestion } from './describe-question.ts';
import { parseAnswer } from './parse-answer.ts';
import { readLine } from './read-line.ts';
import type { ReadLineOptions } from './read-line.ts';

/**
 * Asks a question on the terminal. Enter alone takes the default, where there is one.
 *
 * @returns the answer in the type that the question asks for, or `undefined` when the user gave none.
 * @throws Interrupted at Ctrl-C
 */
export async function askInTerminal(
  question: Question,
  io: CliIo,
  options: ReadLineOptions = {},
): Promise<unknown> {
  const paint = createPaint(io.colour);
  const lines = describeQuestion(question, paint);
  io.stdout.write(`\n${lines.join('\n')}\n`);
  const enter =
    question.default_answer === null ? 'Enter alone leaves it open' : 'Enter takes the default';
  const hint = paint('quiet', `(${answerHint(question)}; ${enter})`);
  const typed = await readLine(io, `${hint}\n> `, options);
  if (typed === undefined) return undefined;
  if (typed.trim() !== '') return parseAnswer(question, typed);
  return question.default_answer === null
    ? undefined
    : parseAnswer(question, question.default_answer);
}
