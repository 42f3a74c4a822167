import type { Question } from '../../../contracts/question.ts';
import type { QuestionWait } from '../../../contracts/views.ts';
import {
  describeAsker,
  describeUrging,
  listQuestionFacts,
} from '../../../core/render/questions.ts';
import { needsExplicitWord } from '../../../core/questions/check-answer.ts';
import type { QuestionStyle } from '../../../core/render/questions.ts';
import { cleanLine, cleanText, formatTime } from '../terminal-text.ts';
import type { Paint } from '../terminal-text.ts';

const style: QuestionStyle = {
  text: cleanLine,
  value: cleanLine,
  moment: (epochSeconds) => `, at ${formatTime(epochSeconds)} UTC`,
};

/** A question as a person reads it: who asks, what, why, what happens without an answer, and how to answer. */
export function describeQuestion(
  question: Question & Partial<QuestionWait>,
  paint: Paint,
): string[] {
  const { question_id, priority, wave } = question;
  const asker = `${describeAsker(question, style)}${wave > 0 ? `, wave ${wave}` : ''}`;
  const urging = cleanLine(describeUrging(question));
  return [
    `${paint('strong', cleanLine(question_id))} · ${cleanLine(priority)} · from ${asker}${urging}`,
    ...cleanText(question.text)
      .trim()
      .split('\n')
      .map((line) => `  ${line}`),
    ...listQuestionFacts(question, style).map(({ label, text }) => `  ${label}: ${text}`),
    ...describeAnswers(question),
  ];
}

/** Describes in a few words how to type the answer. */
export function answerHint(question: Question): string {
  if (needsExplicitWord(question.kind)) return 'the words of a choice';
  return question.expected_answer_format === 'choice'
    ? `1 to ${question.choices.length}, or the words`
    : hints[question.expected_answer_format];
}

const hints = {
  text: 'your answer',
  boolean: 'yes or no',
  number: 'a number',
  json: 'JSON in one line',
} as const;

function describeAnswers(question: Question): string[] {
  const { expected_answer_format, answer_schema: schema, choices } = question;
  if (expected_answer_format === 'choice') {
    return needsExplicitWord(question.kind)
      ? choices.map((choice) => `  - ${cleanLine(choice)}`)
      : choices.map((choice, index) => `  ${index + 1}) ${cleanLine(choice)}`);
  }
  return [
    `  answer: ${answerHint(question)}`,
    ...(schema ? [`  schema: ${cleanLine(JSON.stringify(schema), 400)}`] : []),
  ];
}
