import { commandText } from '../../command-text.ts';
import type { AnswerResult } from '../../submit-answer.ts';
import { cleanLine } from '../text/clean-text.ts';
import { answerText } from './parse-answer.ts';

/** What became of an answer, in one or two lines. */
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

/** The run's reason, and the command with an answer that would be taken. */
export function refusalText(
  runId: string,
  { question_id, reason, example }: Extract<AnswerResult, { status: 'refused' }>,
): string {
  const id = cleanLine(question_id);
  const told = cleanLine(reason);
  const why = told.startsWith(`${id}: `) ? told.slice(id.length + 2) : told;
  const text = `${id} was not answered: ${why}`;
  if (example === null) return text;
  const command = commandText('answer', runId, example.question_id, answerText(example.answer));
  return `${text.replace(/\.$/, '')}. For example: ${command}`;
}
