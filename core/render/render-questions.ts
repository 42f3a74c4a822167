/** Renders open questions as Markdown: text, asker, default, and the commands that answer. */
import type { Question } from '../../contracts/question.ts';
import type { PlanView } from '../../contracts/views.ts';
import { listWaiting } from '../questions/list-waiting.ts';
import { capitalise } from '../text/format.ts';
import { bullet, codeBlock, codeSpan, plainText } from '../text/markdown.ts';
import { answerCommands, describeAsker, describeUrging, listQuestionFacts } from './questions.ts';
import type { QuestionStyle } from './questions.ts';

/** Most questions on the page, which has other things to show. The others are one command away. */
const questionsShownMax = 8;

const choicesShownMax = 20;

const style: QuestionStyle = { text: plainText, value: codeSpan, moment: () => '' };

/** @param plan The plan of the current wave, for the dependents of the askers. */
export function renderQuestions(
  runId: string,
  questions: readonly Question[],
  plan: PlanView | null,
): string[] {
  const rest = questions.length - questionsShownMax;
  return [
    ...questions
      .slice(0, questionsShownMax)
      .map((question) => renderQuestion(runId, question, plan)),
    rest > 0 ? `… and ${rest} more: the query \`questions\` lists all.` : '',
  ];
}

function renderQuestion(runId: string, question: Question, plan: PlanView | null): string {
  const { question_id, priority, text } = question;
  const urging = plainText(describeUrging(question), 100);
  const facts = listQuestionFacts({ ...question, ...listWaiting(question, plan) }, style);
  return [
    `### ${question_id} · ${priority} · from ${describeAsker(question, style)}${urging}`,
    '',
    plainText(text, 800),
    '',
    ...facts.map(({ label, text: told }) => bullet(`**${capitalise(label)}:** ${told}`)),
    bullet(`**Answer:** ${describeFormat(question)}`),
    '',
    codeBlock(answerCommands(runId, question)),
  ].join('\n');
}

function describeFormat(question: Question): string {
  const formats: Record<Question['expected_answer_format'], string> = {
    text: 'text',
    boolean: 'true or false',
    number: 'a number',
    choice: `one of ${question.choices
      .slice(0, choicesShownMax)
      .map((choice) => codeSpan(choice, 100))
      .join(', ')}`,
    json: question.answer_schema === null ? 'any JSON' : 'JSON that fits the schema',
  };
  return formats[question.expected_answer_format];
}
