/** Renders open questions as Markdown: text, asker, default, and the commands that answer. */
import type { Question, QuestionKind } from '../../contracts/question.ts';
import type { PlanView } from '../../contracts/views.ts';
import { listWaiting } from '../questions/list-waiting.ts';
import { answerCommands } from './answer-commands.ts';
import { describeUrging } from './describe-wait.ts';
import { formatDuration } from './format-duration.ts';
import { bullet, codeBlock, codeSpan, plainText } from './markdown.ts';

/** Most questions on the page, which has other things to show. The others are one command away. */
const questionsShownMax = 8;

const choicesShownMax = 20;

const waitingShownMax = 10;

/** Kinds of questions that the engine itself asks, whatever caused them. */
const enginesKinds: readonly QuestionKind[] = [
  'planner_stuck',
  'waves_spent',
  'approval',
  'effect',
];

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
  const lines = [
    `### ${question.question_id} · ${question.priority} · from ${describeAsker(question)}${plainText(describeUrging(question), 100)}`,
    '',
    plainText(question.text, 800),
    '',
    ...(question.why_it_matters.trim() === ''
      ? []
      : [bullet(`**Why it matters:** ${plainText(question.why_it_matters, 300)}`)]),
    ...describeWaiting(question, plan),
    bullet(`**Answer:** ${describeFormat(question)}`),
    bullet(describeDefault(question)),
    ...describeHandOver(question),
    '',
    codeBlock(answerCommands(runId, question)),
  ];
  return lines.join('\n');
}

function describeWaiting(question: Question, plan: PlanView | null): string[] {
  const { waiting, blocked } = listWaiting(question, plan);
  if (waiting.length + blocked.length < 2) return [];
  const after = blocked.length === 0 ? '' : `, and after them ${listIds(blocked)}`;
  return [bullet(`**Waiting for it:** ${listIds(waiting)}${after}`)];
}

function listIds(ids: readonly string[]): string {
  const shown = ids.slice(0, waitingShownMax).map((id) => codeSpan(id, 60));
  const rest = ids.length - shown.length;
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

function describeAsker(question: Question): string {
  if (enginesKinds.includes(question.kind)) return 'planwave';
  if (question.delegation_id === null) return 'the planner';
  return `${codeSpan(question.agent_id ?? 'an agent', 60)} in ${codeSpan(question.delegation_id, 60)}`;
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

function describeHandOver({ escalate_to, escalated_at }: Question): string[] {
  if (escalate_to === null || escalated_at !== null) return [];
  const person = codeSpan(escalate_to.person, 80);
  const when = formatDuration(escalate_to.after_seconds);
  return [bullet(`**Also for ${person}:** ${when} after the question was asked`)];
}

function describeDefault(question: Question): string {
  if (question.default_answer === null) return '**Without an answer:** it waits';
  const shown = codeSpan(question.default_answer, 100);
  return question.deadline_seconds === null
    ? `**Suggested:** ${shown} (never taken by itself)`
    : `**Default:** ${shown}, taken ${formatDuration(question.deadline_seconds)} after the question was asked`;
}
