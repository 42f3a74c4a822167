import type { Question } from '../../../contracts/question.ts';
import type { CliIo, ReadLineOptions } from '../cli-io.ts';
import { createPaint, cleanLine } from '../terminal-text.ts';
import { answerHint, describeQuestion } from './describe-question.ts';
import { parseAnswer } from './answers.ts';
import { readLine } from '../cli-io.ts';

/**
 * Asks a question on the terminal. Enter alone takes the default, if there is one.
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

/** Lets the user pick one of several questions. Returns `undefined` when none was picked. */
export async function chooseQuestion(
  questions: readonly Question[],
  io: CliIo,
): Promise<Question | undefined> {
  const lines = questions.map(({ question_id, priority, text }) => {
    return `  ${cleanLine(question_id)} (${cleanLine(priority)}) ${cleanLine(text, 100)}`;
  });
  io.stdout.write(`${questions.length} questions are open:\n${lines.join('\n')}\n`);
  for (;;) {
    const typed = await readLine(io, 'Which one? > ');
    const word = typed?.trim().toLowerCase() ?? '';
    if (word === '') return undefined;
    const chosen = questions.find(({ question_id }) => {
      return question_id === word || question_id === `q${word}`;
    });
    if (chosen !== undefined) return chosen;
    io.stdout.write(`There is no open question ${cleanLine(word, 40)}.\n`);
  }
}
