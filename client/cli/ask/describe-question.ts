import type { Question } from '../../../contracts/question.ts';
import type { QuestionWait } from '../../../contracts/views.ts';
import { commandText } from '../../command-text.ts';
import { cleanLine, cleanText } from '../text/clean-text.ts';
import { formatSeconds, formatTime } from '../text/format-time.ts';
import type { Paint } from '../text/paint.ts';

/** A question as a person reads it: who asks, what, why, how to answer, and what happens without an answer. */
export function describeQuestion(
  question: Question & Partial<QuestionWait>,
  paint: Paint,
): string[] {
  const id = paint('strong', cleanLine(question.question_id));
  const why = cleanLine(question.why_it_matters);
  return [
    `${id} · ${cleanLine(question.priority)} · asked by ${askerOf(question)}${urgingOf(question)}`,
    ...cleanText(question.text)
      .trim()
      .split('\n')
      .map((line) => `  ${line}`),
    ...(why === '' ? [] : [paint('quiet', `  why it matters: ${why}`)]),
    ...describeWaiting(question),
    ...describeAnswers(question),
    ...describeDefault(question),
    ...describeHandOver(question),
  ];
}

/** The command that answers the question, with a fitting answer to replace. */
export function answerCommand(runId: string, question: Question): string {
  return commandText('answer', runId, question.question_id, sampleAnswer(question));
}

/** How to type the answer, in a few words. */
export function answerHint(question: Question): string {
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

const samples = { boolean: 'yes', choice: '1' } as const;
const samplesWithoutDefault = { text: 'your answer', number: '1', json: '{}' } as const;

function askerOf({ delegation_id, agent_id, wave }: Question): string {
  const who = delegation_id ?? agent_id ?? 'the engine';
  return `${cleanLine(who)}${wave > 0 ? ` in wave ${wave}` : ''}`;
}

/** Said where it is more than the one who asks. */
function describeWaiting({ waiting = [], blocked = [] }: Partial<QuestionWait>): string[] {
  if (waiting.length + blocked.length < 2) return [];
  const after =
    blocked.length === 0 ? '' : `, and after them ${cleanLine(blocked.join(', '), 200)}`;
  return [`  waiting for it: ${cleanLine(waiting.join(', '), 200)}${after}`];
}

function describeAnswers(question: Question): string[] {
  if (question.expected_answer_format !== 'choice') {
    const schema = question.answer_schema;
    return [
      `  answer: ${answerHint(question)}`,
      ...(schema ? [`  schema: ${cleanLine(JSON.stringify(schema), 400)}`] : []),
    ];
  }
  return question.choices.map((choice, index) => `  ${index + 1}) ${cleanLine(choice)}`);
}

function describeDefault({ default_answer, deadline_seconds, asked_at }: Question): string[] {
  if (default_answer === null) return ['  without an answer: it waits'];
  const text = `  default: ${cleanLine(default_answer, 200)}`;
  if (deadline_seconds === null) return [`${text} (never taken by itself)`];
  const at = formatTime(asked_at + deadline_seconds);
  return [`${text} (taken after ${formatSeconds(deadline_seconds)}, at ${at} UTC)`];
}

function describeHandOver({ escalate_to, escalated_at, asked_at }: Question): string[] {
  if (escalate_to === null || escalated_at !== null) return [];
  const at = formatTime(asked_at + escalate_to.after_seconds);
  return [`  also for ${cleanLine(escalate_to.person, 80)} from ${at} UTC`];
}

/** How long it has waited, as far as the run has done something about it. */
function urgingOf({ escalate_to, escalated_at, reminded }: Question): string {
  const also =
    escalate_to === null || escalated_at === null
      ? ''
      : ` · now also for ${cleanLine(escalate_to.person, 80)}`;
  if (reminded === 0) return also;
  return `${also} · reminded ${reminded === 1 ? 'once' : `${reminded} times`}`;
}

function sampleAnswer({ expected_answer_format: format, default_answer }: Question): string {
  if (format === 'boolean' || format === 'choice') return samples[format];
  return default_answer === null ? samplesWithoutDefault[format] : cleanLine(default_answer, 80);
}
