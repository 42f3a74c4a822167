/**
 * Describes questions for people: a wait in one line, the commands that answer, and the facts that every medium shows.
 *
 * Invariants:
 *   WA1. The line has at most 120 characters, names the question, and shows the default when one will be taken.
 *   WA2. The line shows the number of reminders, and the other person that was asked.
 *   WA3. Each timer of a question is named after its effect.
 *   CM2. The answer in the command is one that the question accepts, where one can be constructed.
 */
import { signalNames } from '../../contracts/names.ts';
import type { Question, QuestionKind } from '../../contracts/question.ts';
import type { OpenQuestion, PlanView, QuestionWait } from '../../contracts/views.ts';
import { definedOnly } from '../json.ts';
import { engineLimits } from '../limits.ts';
import { checkAnswer } from '../questions/check-answer.ts';
import { cleanLine, cutText } from '../text/cut-text.ts';
import { capitalise, formatDuration, commandText, signalCommand } from '../text/format.ts';
import { bullet, codeBlock, codeSpan, plainText } from '../text/markdown.ts';
import type { QuestionMoment } from '../questions/inbox-event.ts';
import { listWaiting } from '../questions/check-asked-questions.ts';
import { exampleAnswer } from '../questions/answer-kinds.ts';

/** Characters of a person's name. A longer one would displace the question. */
const personCharsMax = 30;

/**
 * Returns `waiting for your answer to q3 (default: eu-west in 2 h)`, or without a deadline the question. Later it
 * becomes `waiting for your answer to q3, now also for Maria, reminded 2 times: Which region?`
 */
export function describeWait(
  question: Question,
  charsMax: number = engineLimits.labelCharsMax,
): string {
  const { default_answer: fallback, deadline_seconds: deadline } = question;
  const begin = `waiting for your answer to ${question.question_id}${describeUrging(question)}`;
  const max = charsMax - begin.length;
  if (fallback === null || deadline === null) return withText(begin, question, charsMax);
  const when = ` in ${formatDuration(deadline)})`;
  const shown = cleanLine(fallback, max - ' (default: '.length - when.length);
  return `${begin} (default: ${shown}${when}`;
}

/** Characters of the command in a timer's name. A longer one leaves no room for the question. */
const timerCommandCharsMax = 75;

/**
 * Names the timer of a moment, with the command that answers: the page of a run opens on its timers. A reminder without a
 * deadline is named like the wait itself.
 */
export function describeMoment(moment: QuestionMoment, question: Question, runId: string): string {
  const { question_id, escalate_to, deadline_seconds, reminded } = question;
  const command = ` · ${commandText('answer', runId, question_id)}`;
  const end = command.length > timerCommandCharsMax ? '' : command;
  const max = engineLimits.labelCharsMax - end.length;
  if (moment === 'hand_over' && escalate_to !== null) {
    const person = cleanLine(escalate_to.person, personCharsMax);
    const when = formatDuration(escalate_to.after_seconds);
    return `${withText(`${question_id} is also for ${person} after ${when}`, question, max)}${end}`;
  }
  return moment === 'reminder' && deadline_seconds !== null
    ? `${withText(`reminder ${reminded + 1} about ${question_id}`, question, max)}${end}`
    : `${describeWait(question, max)}${end}`;
}

/** Returns `, now also for Maria, reminded 2 times`; empty at first. */
export function describeUrging({ escalate_to, escalated_at, reminded }: Question): string {
  const also =
    escalate_to === null || escalated_at === null
      ? ''
      : `, now also for ${cleanLine(escalate_to.person, personCharsMax)}`;
  if (reminded === 0) return also;
  return `${also}, reminded ${reminded === 1 ? 'once' : `${reminded} times`}`;
}

function withText(begin: string, question: Question, charsMax: number): string {
  return cutText(`${begin}: ${cleanLine(question.text, charsMax)}`, charsMax);
}

/** Longest word, in characters. A longer one would make a command that people run unread. */
const wordCharsMax = 300;

/** Returns the client's command, then the Temporal CLI's. */
export function answerCommands(runId: string, question: OpenQuestion): string[] {
  const { question_id } = question;
  const answered_by = signerOf(question);
  const signal = definedOnly({ question_id, answer: pickAnswer(question), answered_by });
  return [answerCommand(runId, question), signalCommand(runId, signalNames.answer, signal)];
}

/** Returns the client's command, signed where only some may decide. */
export function answerCommand(runId: string, question: OpenQuestion): string {
  const answer = pickAnswer(question);
  const word = typeof answer === 'string' ? answer : JSON.stringify(answer);
  // Commander would read a leading dash as an option.
  const end = word.startsWith('-') ? ['--'] : [];
  const signer = signerOf(question);
  const signed = signer === undefined ? [] : ['--as', signer];
  return commandText('answer', runId, question.question_id, ...signed, ...end, word);
}

/** With several approvers, who of them runs the command is not known. */
function signerOf({ approvers = [] }: OpenQuestion): string | undefined {
  const [first, second] = approvers;
  return second === undefined ? first : 'your name';
}

/** Picks an answer that a command can show unchanged: the default, a choice, its number, or a placeholder. */
function pickAnswer(question: Question): unknown {
  const isTaken = (answer: unknown): boolean => isPlain(answer) && checkAnswer(question, answer).ok;
  const numbers = question.choices.map((_, i) => i + 1);
  return exampleAnswer(question, isTaken) ?? numbers.find(isTaken) ?? 'your answer';
}

/**
 * Accepts no line breaks, controls, or characters that hide or reorder text, so that people see exactly what is sent.
 */
function isPlain(answer: unknown): boolean {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  return cleanLine(text, wordCharsMax) === text;
}

/** Kinds of questions that the engine itself asks, whatever caused them. */
const enginesKinds: readonly QuestionKind[] = [
  'plan_approval',
  'verification',
  'planner_stuck',
  'waves_spent',
  'approval',
  'effect',
  'changes',
];

/** Sets untrusted texts in a medium: a terminal, or Markdown. */
export interface QuestionStyle {
  /** A text on one line. */
  readonly text: (text: string, charsMax: number) => string;
  /** An id or a value, apart from the words around it. */
  readonly value: (text: string, charsMax: number) => string;
  /** The time, in Unix epoch seconds, as it stands behind "2 h after the question was asked". Empty for none. */
  readonly moment: (epochSeconds: number) => string;
}

export function describeAsker(
  { kind, delegation_id, agent_id }: Question,
  { value }: QuestionStyle,
): string {
  if (enginesKinds.includes(kind)) return 'planwave';
  if (kind === 'design') return value(agent_id ?? 'an agent', 60);
  if (delegation_id === null) return 'the planner';
  return `${value(agent_id ?? 'an agent', 60)} in ${value(delegation_id, 60)}`;
}

/**
 * Finds the address of the text that a question is about: the whole arguments of a call, or the text that a guardrail holds
 * back. The engine writes that line after all that an agent wrote, so the last one counts.
 *
 * @returns null for a question that is about none.
 */
export function findShownRef({ kind, text }: Pick<Question, 'kind' | 'text'>): string | null {
  // Everyone else writes the whole text, and such a line with it.
  if (kind !== 'approval' && kind !== 'effect') return null;
  const lines = /^SHA-256 of [a-z ]{1,40}, and (?:its|their) address in the store: ([0-9a-f]{64})$/;
  return (
    text
      .split('\n')
      .flatMap((line) => lines.exec(line)?.[1] ?? [])
      .at(-1) ?? null
  );
}

interface QuestionFact {
  readonly label: string;
  readonly text: string;
}

/** Lists what a person wants to know before answering: why, for whom, and what happens without an answer. */
export function listQuestionFacts(
  question: OpenQuestion,
  style: QuestionStyle,
): readonly QuestionFact[] {
  const why = style.text(question.why_it_matters, 600);
  return [
    ...(why === '' ? [] : [{ label: 'why it matters', text: why }]),
    ...listWaits(question, style),
    tellDefault(question, style),
    ...listHandOver(question, style),
    ...tellApprovers(question, style),
  ];
}

const waitingShownMax = 10;

/** Empty unless it is more than the asker. */
function listWaits(
  { waiting = [], blocked = [] }: Partial<QuestionWait>,
  style: QuestionStyle,
): readonly QuestionFact[] {
  if (waiting.length + blocked.length < 2) return [];
  const after = blocked.length === 0 ? '' : `, and after them ${listIds(blocked, style)}`;
  return [{ label: 'waiting for it', text: `${listIds(waiting, style)}${after}` }];
}

function listIds(ids: readonly string[], { value }: QuestionStyle): string {
  const shown = ids.slice(0, waitingShownMax).map((id) => value(id, 60));
  const rest = ids.length - shown.length;
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}

function tellDefault(
  { default_answer, deadline_seconds, asked_at }: Question,
  style: QuestionStyle,
): QuestionFact {
  if (default_answer === null) return { label: 'without an answer', text: 'it waits' };
  const shown = style.value(default_answer, 200);
  if (deadline_seconds === null) {
    return { label: 'default', text: `${shown} (not taken automatically)` };
  }
  return {
    label: 'default',
    text: `${shown}, applied ${tellAfter(asked_at, deadline_seconds, style)}`,
  };
}

function listHandOver(
  { escalate_to, escalated_at, asked_at }: Question,
  style: QuestionStyle,
): readonly QuestionFact[] {
  if (escalate_to === null || escalated_at !== null) return [];
  const label = `also for ${style.value(escalate_to.person, 80)}`;
  return [{ label, text: tellAfter(asked_at, escalate_to.after_seconds, style) }];
}

function tellApprovers(
  { approvers = [] }: OpenQuestion,
  style: QuestionStyle,
): readonly QuestionFact[] {
  if (approvers.length === 0) return [];
  return [{ label: 'who may decide', text: listIds(approvers, style) }];
}

function tellAfter(askedAt: number, seconds: number, { moment }: QuestionStyle): string {
  return `${formatDuration(seconds)} after the question was asked${moment(askedAt + seconds)}`;
}

/** Renders open questions as Markdown: text, asker, default, and the commands that answer. */

/** Most questions on the page, which has other things to show. The others are one command away. */
const questionsShownMax = 8;

const choicesShownMax = 20;

const style: QuestionStyle = { text: plainText, value: codeSpan, moment: () => '' };

/** @param plan The plan of the current wave, for the dependents of the askers. */
export function renderQuestions(
  runId: string,
  questions: readonly OpenQuestion[],
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

function renderQuestion(runId: string, question: OpenQuestion, plan: PlanView | null): string {
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
