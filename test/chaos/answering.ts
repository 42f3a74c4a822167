import { randomUUID } from 'node:crypto';
import type { Client, WorkflowHandle } from '@temporalio/client';
import type { Escalation } from '../../contracts/messages.ts';
import type { Question, QuestionKind } from '../../contracts/question.ts';
import type { QuestionsView } from '../../contracts/views.ts';
import { questionId } from '../../core/ids.ts';
import type { SeenEvent } from './history-watch.ts';
import type { Prng } from '../support/prng.ts';
import { payloadText } from '../support/histories.ts';
import type { Asking } from './runs/reference-run.ts';

/**
 * When the answers are sent: each when it is asked for, all in any order when all are asked, or while no worker runs.
 * `plain`: each once, when all are asked; `one by one`: each once, when it is asked.
 */
export type AnsweringStyle = 'plain' | 'one by one' | 'at once' | 'shuffled' | 'while away';

/** Returns true when each answer is sent once. */
export function isOnce(answering: AnsweringStyle): boolean {
  return answering === 'plain' || answering === 'one by one';
}

/** Answers that the server took, by kind, and those that it refused. */
export interface AnswerCounts {
  readonly first: number;
  readonly again: number;
  readonly late: number;
  readonly refused: number;
}

/** Answer to a question about the budget. How often it is asked depends on what is done to a run. */
export const moreBudget = 'top_up';

/** A question of the run, as its history tells. */
export interface Asked {
  readonly question_id: string;
  readonly text: string;
  readonly kind: QuestionKind;
}

/** An answer on its way. */
export interface SentAnswer {
  readonly question_id: string;
  readonly answer: string | number;
  /** `again`: equal to the one before; `late`: another one, after it. */
  readonly kind: 'first' | 'again' | 'late';
}

/** The questions that an event of the run asks. They are numbered in the order in which they come. */
export function readAsked({ event }: Pick<SeenEvent, 'event'>, before: readonly Asked[]): Asked[] {
  const signal = event.workflowExecutionSignaledEventAttributes;
  if (signal?.signalName !== 'escalate') return [];
  const escalation: Escalation = JSON.parse(payloadText(signal.input));
  if (escalation.type !== 'questions') return [];
  const { kind } = escalation;
  return escalation.questions.map(({ text }, index) => ({
    kind,
    question_id: questionId(before.length + index + 1),
    text,
  }));
}

/**
 * Answers to the questions of the engine. A file that nobody is sure of is written again. The lines of an edit are there:
 * the engine asks when those of a later one are, too. Whether an MCP server was called the user knows from the server.
 */
const engineAnswers: Partial<Record<QuestionKind, string>> = {
  approval: 'approve',
  effect: 'retry',
  budget: moreBudget,
  plan_approval: 'approve',
};

function answerEngine(
  { text, kind }: Pick<Asked, 'text' | 'kind'>,
  outsideCalls: Readonly<Record<string, number>>,
): string | undefined {
  const wasCalled = Object.keys(outsideCalls).some((call) => text.includes(`{"text":"${call}"}`));
  const isDone = wasCalled || text.startsWith('Did edit_file change ');
  return kind === 'effect' && isDone ? 'verified' : engineAnswers[kind];
}

function findAsking(text: string, askings: readonly Asking[]): Asking {
  const asking = askings.find((one) => one.asked.text === text);
  if (asking === undefined) throw new Error(`Nobody expected the question ${text}`);
  return asking;
}

/** Returns the answer to one question of the run. */
export function answerQuestion(
  question: Pick<Asked, 'text' | 'kind'>,
  askings: readonly Asking[],
  outsideCalls: Readonly<Record<string, number>>,
): string | number {
  return answerEngine(question, outsideCalls) ?? findAsking(question.text, askings).answer;
}

/** Composes the messages for these questions: every answer, some again, and different ones that come too late. */
export function composeAnswers(
  asked: readonly Asked[],
  askings: readonly Asking[],
  {
    random,
    outsideCalls = {},
  }: {
    readonly random: Prng;
    /** How often the MCP server was called, by the text of the call. Default: never. */
    readonly outsideCalls?: Readonly<Record<string, number>>;
  },
): SentAnswer[] {
  const sent: SentAnswer[] = [];
  const waiting = random.shuffle(asked).map(({ question_id, text, kind }): SentAnswer[] => {
    const byEngine = answerEngine({ text, kind }, outsideCalls);
    if (byEngine !== undefined) return [{ question_id, answer: byEngine, kind: 'first' }];
    const { answer, tooLate } = findAsking(text, askings);
    return [
      { question_id, answer, kind: 'first' },
      ...Array.from({ length: random.integer(0, 2) }, () => ({
        question_id,
        answer,
        kind: 'again' as const,
      })),
      ...(random.chance(0.4) ? [{ question_id, answer: tooLate, kind: 'late' as const }] : []),
    ];
  });
  // The questions mix, the order for one question stays: whatever comes first is the answer.
  for (let left = waiting; left.length > 0; left = left.filter(({ length }) => length > 0)) {
    sent.push(...random.pick(left).splice(0, 1));
  }
  return sent;
}

const retryMs = 100;

/**
 * Sends it as a signal until the server has taken it; the server takes one request once, however often it is made.
 *
 * @param isOver whether the run has ended: then it is tried once more, no longer.
 * @returns whether the server took it.
 */
export async function sendAnswer(
  client: Pick<Client, 'workflowService'>,
  workflowId: string,
  { question_id, answer }: Pick<SentAnswer, 'question_id' | 'answer'>,
  isOver: () => boolean,
): Promise<boolean> {
  const requestId = randomUUID();
  const data = Buffer.from(JSON.stringify({ question_id, answer }));
  const metadata = { encoding: Buffer.from('json/plain') };
  for (;;) {
    const isLast = isOver();
    try {
      await client.workflowService.signalWorkflowExecution({
        namespace: 'default',
        workflowExecution: { workflowId },
        signalName: 'answer',
        requestId,
        input: { payloads: [{ metadata, data }] },
      });
      return true;
    } catch {
      if (isLast) return false;
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  }
}

/** Milliseconds between two looks at what is open: after an event of the run, and without one. */
const lookEveryMs = 100;
const lookAnywayEveryMs = 2_000;

/** Answers whatever is open, each question once. */
export class OpenAnswers {
  readonly #run: WorkflowHandle;
  readonly #answerTo: (question: Question) => string | number;
  readonly #onTaken: () => void;
  readonly #answered = new Set<string>();
  #lookedAtMs = 0;
  #hasNews = true;

  constructor(
    run: WorkflowHandle,
    answerTo: (question: Question) => string | number,
    onTaken: () => void,
  ) {
    this.#run = run;
    this.#answerTo = answerTo;
    this.#onTaken = onTaken;
  }

  /** Notes an event of the run: every question comes with one. */
  noteEvent(): void {
    this.#hasNews = true;
  }

  /** Answers what is open and was not answered yet. A run that nobody can ask now has nothing open. */
  async look(isOver: () => boolean): Promise<void> {
    const everyMs = this.#hasNews ? lookEveryMs : lookAnywayEveryMs;
    if (Date.now() < this.#lookedAtMs + everyMs) return;
    this.#lookedAtMs = Infinity;
    this.#hasNews = false;
    const asked = await this.#run.query<QuestionsView>('questions').catch(() => null);
    if (asked === null) this.#hasNews = true;
    for (const question of asked?.open ?? []) {
      const { question_id } = question;
      if (this.#answered.has(question_id)) continue;
      this.#answered.add(question_id);
      const answer = { question_id, answer: this.#answerTo(question) };
      const isTaken = await sendAnswer(this.#run.client, this.#run.workflowId, answer, isOver);
      if (isTaken) this.#onTaken();
    }
    this.#lookedAtMs = Date.now();
  }
}
