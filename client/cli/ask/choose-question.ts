import type { Question } from '../../../contracts/question.ts';
import type { CliIo } from '../cli-io.ts';
import { cleanLine } from '../text/clean-text.ts';
import { readLine } from './read-line.ts';

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
