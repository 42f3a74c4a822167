import { answerCommand } from '../../../core/render/questions.ts';
import type { Question } from '../../../contracts/question.ts';
import type { PlanwaveClient } from '../../planwave-client.ts';
import { askInTerminal } from '../ask/ask-in-terminal.ts';
import { describeAnswerResult, parseAnswer } from '../ask/answers.ts';
import type { CliIo } from '../cli-io.ts';
import { cleanLine } from '../terminal-text.ts';

export interface QuestionDesk {
  /** Answers open questions with their defaults, when that was requested. Returns a line for each. */
  takeDefaults(questions: readonly Question[]): Promise<string[]>;
  /** Returns the next question to put to the user, or undefined. */
  next(questions: readonly Question[]): Question | undefined;
  /** Asks until an answer is accepted, none is given, or `signal` withdraws the question. */
  ask(question: Question, signal: AbortSignal): Promise<void>;
}

export function createQuestionDesk(
  client: PlanwaveClient,
  runId: string,
  io: CliIo,
  options: { readonly defaults: boolean; readonly ask: boolean },
): QuestionDesk {
  /** Questions answered here or left open by the user: not asked again in this session. */
  const handled = new Set<string>();
  const say = (line: string): void => {
    io.stdout.write(`${line}\n`);
  };

  const submit = async (question: Question, answer: unknown): Promise<boolean> => {
    const result = await client.answer(runId, { question_id: question.question_id, answer });
    for (const line of describeAnswerResult(runId, result)) say(line);
    return result.status !== 'refused';
  };

  return {
    async takeDefaults(questions) {
      const lines: string[] = [];
      if (!options.defaults) return lines;
      for (const question of questions) {
        const { question_id, default_answer } = question;
        if (default_answer === null || handled.has(question_id)) continue;
        handled.add(question_id);
        const answer = parseAnswer(question, default_answer);
        const result = await client.answer(runId, { question_id, answer, as_default: true });
        lines.push(...describeAnswerResult(runId, result));
      }
      return lines;
    },
    next: (questions) =>
      options.ask ? questions.find(({ question_id }) => !handled.has(question_id)) : undefined,
    async ask(question, signal) {
      for (;;) {
        const answer = await askInTerminal(question, io, { signal });
        if (signal.aborted) {
          say(`${cleanLine(question.question_id)} was answered elsewhere.`);
          return;
        }
        if (answer === undefined) {
          handled.add(question.question_id);
          say(`Left open. Answer it later with: ${answerCommand(runId, question)}`);
          return;
        }
        if (await submit(question, answer)) {
          handled.add(question.question_id);
          return;
        }
      }
    },
  };
}
