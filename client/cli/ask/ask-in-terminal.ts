import type {
  AnsweredQuestion,
  AnswerInput,
  Question,
  RejectedAnswer,
} from '../../../contracts/question.ts';
import type { OpenQuestion } from '../../../contracts/views.ts';
import { answererNames } from '../../../contracts/names.ts';
import { isPerson } from '../../../core/questions/answer-kinds.ts';
import { needsExplicitWord } from '../../../core/questions/check-answer.ts';
import {
  answerCommand,
  describeAsker,
  describeUrging,
  listQuestionFacts,
  type QuestionStyle,
} from '../../../core/render/questions.ts';
import type { PlanwaveClient } from '../../planwave-client.ts';
import { formatTime } from '../../format-time.ts';
import { readLine, type CliIo, type ReadLineOptions } from '../cli-io.ts';
import { cleanLine, cleanText, createPaint, wrapToColumns, type Paint } from '../terminal-text.ts';
import {
  describeAnswerResult,
  findRefusal,
  isForOthers,
  parseAnswer,
  refusalText,
  signatureOf,
  type Refusal,
} from './answers.ts';

/**
 * Asks a question on the terminal. Enter alone takes the default, if there is one: as an answer of the user, except where only
 * others may sign one.
 *
 * @returns the answer in the type that the question asks for; `undefined` when the user gave none.
 * @throws Interrupted at Ctrl-C
 */
export async function askInTerminal(
  question: OpenQuestion,
  io: CliIo,
  { signer, ...options }: ReadLineOptions & Pick<DeskOptions, 'signer'> = {},
): Promise<GivenAnswer | undefined> {
  const paint = createPaint(io.colour);
  const columns = io.columns?.() ?? Number.POSITIVE_INFINITY;
  const lines = describeQuestion(question, paint).flatMap((line) => wrapToColumns(line, columns));
  io.stdout.write(`\n${lines.join('\n')}\n`);
  const enter =
    question.default_answer === null ? 'Enter alone leaves it open' : 'Enter takes the default';
  const hint = paint('quiet', `(${answerHint(question)}; ${enter})`);
  const typed = await readLine(io, `${hint}\n> `, options);
  if (typed === undefined) return undefined;
  if (typed.trim() !== '') return { answer: parseAnswer(question, typed) };
  if (question.default_answer === null) return undefined;
  const answer = parseAnswer(question, question.default_answer);
  return isForOthers(question, signer) ? { answer, as_default: true } : { answer };
}

type GivenAnswer = Pick<AnswerInput, 'answer' | 'as_default'>;

/** Lets the user pick one of several questions. Returns `undefined` when none was picked. */
export async function chooseQuestion(
  questions: readonly OpenQuestion[],
  io: CliIo,
): Promise<OpenQuestion | undefined> {
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

const style: QuestionStyle = {
  text: cleanLine,
  value: cleanLine,
  moment: (epochSeconds) => `, at ${formatTime(epochSeconds)} UTC`,
};

/** A question as a person reads it: who asks, what, why, what happens without an answer, and how to answer. */
export function describeQuestion(question: OpenQuestion, paint: Paint): string[] {
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
function answerHint(question: Question): string {
  const { expected_answer_format: format, kind } = question;
  if (format === 'choice' && needsExplicitWord(kind)) return 'the words of a choice';
  return format === 'choice' ? `1 to ${question.choices.length}, or the words` : hints[format];
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

export interface QuestionDesk {
  /** Answers open questions with their defaults, when that was requested. Returns a line for each. */
  takeDefaults(questions: readonly Question[]): Promise<string[]>;
  /** Returns lines for each answer that no person gave, once. */
  listAnswers(answered: readonly AnsweredQuestion[]): string[];
  /** Returns lines for each answer sent from here that the run has refused since, once: its question is asked again. */
  listRefusals(rejected: readonly RejectedAnswer[]): string[];
  /** Returns the next question to put to the user, or undefined. */
  next(questions: readonly OpenQuestion[]): OpenQuestion | undefined;
  /** Asks until an answer is accepted or sent, none is given, only others may decide, or `signal` withdraws the question. */
  ask(question: OpenQuestion, signal: AbortSignal): Promise<void>;
}

/** Reason with which the signal of `QuestionDesk.ask` withdraws a question that has an answer. */
export const answeredElsewhere = 'answered elsewhere';

interface DeskOptions {
  readonly defaults: boolean;
  readonly ask: boolean;
  /** Name that signs the answers. */
  readonly signer?: string | undefined;
}

export function createQuestionDesk(
  client: PlanwaveClient,
  runId: string,
  io: CliIo,
  options: DeskOptions,
): QuestionDesk {
  const { signer } = options;
  /** Questions answered here or left open by the user: not asked again in this session. */
  const handled = new Set<string>();
  const sent = createSentAnswers();
  const say = (line: string): void => {
    io.stdout.write(`${line}\n`);
  };

  const submit = async ({ question_id }: Question, given: GivenAnswer): Promise<boolean> => {
    const answer = { question_id, ...given, ...signatureOf(signer) };
    const result = await client.answer(runId, answer);
    for (const line of describeAnswerResult(runId, result)) say(line);
    if (result.status === 'sent') sent.add(question_id);
    if (result.status === 'refused') return false;
    handled.add(question_id);
    return true;
  };

  const leaveOpen = (question: OpenQuestion): void => {
    handled.add(question.question_id);
    say(`Left open. Answer it later with: ${answerCommand(runId, question)}`);
  };

  return {
    async takeDefaults(questions) {
      const lines: string[] = [];
      if (!options.defaults) return lines;
      for (const question of questions) {
        const { question_id, default_answer } = question;
        if (default_answer === null || handled.has(question_id)) continue;
        const answer = parseAnswer(question, default_answer);
        const result = await client.answer(runId, { question_id, answer, as_default: true });
        // Only now: when the connection is lost, the answer is sent again.
        handled.add(question_id);
        lines.push(...describeAnswerResult(runId, result));
      }
      return lines;
    },
    listAnswers(answered) {
      const fresh = answered.filter(
        ({ question_id, answered_by }) => !handled.has(question_id) && !isPerson(answered_by),
      );
      for (const { question_id } of fresh) handled.add(question_id);
      return fresh.map(describeAnswered);
    },
    listRefusals(rejected) {
      return sent.takeRefusals(rejected).map((refusal) => {
        handled.delete(refusal.question_id);
        return refusalText(runId, refusal);
      });
    },
    next: (questions) =>
      options.ask ? questions.find(({ question_id }) => !handled.has(question_id)) : undefined,
    async ask(question, signal) {
      for (;;) {
        const given = await askInTerminal(question, io, { signal, signer });
        if (signal.aborted) {
          const fate =
            signal.reason === answeredElsewhere ? 'was answered elsewhere' : 'is no longer open';
          say(`${cleanLine(question.question_id)} ${fate}.`);
          return;
        }
        if (given === undefined) return leaveOpen(question);
        if (await submit(question, given)) return;
        if (isForOthers(question, signer)) return leaveOpen(question);
      }
    },
  };
}

function describeAnswered({ question_id, text, answer, answered_by }: AnsweredQuestion): string {
  const by = answered_by === answererNames.default ? 'its default' : answered_by;
  return `${cleanLine(question_id)} ${cleanLine(text, 200)} · answered by ${cleanLine(by)}: ${cleanLine(answer, 200)}`;
}

/** Answers that no worker took when they were sent, until the run has refused them. */
interface SentAnswers {
  add(questionId: string): void;
  /** Returns the refusals since the last call. @param rejected All that the run tells of. */
  takeRefusals(rejected: readonly RejectedAnswer[]): readonly Refusal[];
}

function createSentAnswers(): SentAnswers {
  /** Refusals of the run before each. */
  const sent = new Map<string, readonly RejectedAnswer[]>();
  let known: readonly RejectedAnswer[] = [];
  return {
    add(questionId) {
      sent.set(questionId, known);
    },
    takeRefusals(rejected) {
      known = rejected;
      const refusals = [...sent].flatMap(([id, before]) => findRefusal(rejected, id, before) ?? []);
      for (const { question_id } of refusals) sent.delete(question_id);
      return refusals;
    },
  };
}
