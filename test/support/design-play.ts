import { WorkflowFailedError } from '@temporalio/client';
import type { WorkflowHandle } from '@temporalio/client';
import type { Question } from '../../contracts/question.ts';
import type { RecordedCall } from '../../rehearsal/script.ts';
import { bodyOf } from './calls.ts';
import { eventually } from './eventually.ts';
import type { Stage } from './stage.ts';

type Asking = Pick<Stage, 'questions'>;

/** Milliseconds after which a design hangs; a whole one makes some hundred model calls. */
const bound = 10 * 60_000;

async function answerAll(run: WorkflowHandle, questions: readonly Question[]): Promise<void> {
  for (const { question_id, choices, default_answer } of questions) {
    const answer = default_answer ?? choices[0] ?? 'As you see fit.';
    await run.signal('answer', { question_id, answer });
  }
}

/**
 * Returns the open questions of a run. The server knows their number: a query would have a worker that keeps no workflow
 * replay the whole run each time.
 */
async function openOf(stage: Asking, run: WorkflowHandle): Promise<readonly Question[]> {
  const { typedSearchAttributes } = await run.describe();
  const attributes = typedSearchAttributes.getAll();
  const known = attributes.find(({ key }) => key.name === 'PlanwaveOpenQuestions');
  return known?.value === 0 ? [] : (await stage.questions(run)).open;
}

/** Answers every question of a design by its default or first choice, until one of this kind is asked. */
export async function untilAsked(
  stage: Asking,
  run: WorkflowHandle,
  kind: Question['kind'],
): Promise<Question> {
  return eventually(
    `a question of kind ${kind}`,
    async () => {
      const open = await openOf(stage, run);
      await answerAll(
        run,
        open.filter((one) => one.kind !== kind),
      );
      return open.find((one) => one.kind === kind);
    },
    bound,
  );
}

/** Answers everything that is asked by its default or first choice until the run has ended. */
export async function untilEnded(stage: Asking, run: WorkflowHandle): Promise<void> {
  const result = run.result().then(
    () => true,
    (error: unknown) => error instanceof WorkflowFailedError || Promise.reject(error),
  );
  await eventually(
    'the end of the run',
    async () => {
      await answerAll(run, await openOf(stage, run));
      return Promise.race([result, new Promise<false>((resolve) => setImmediate(resolve, false))]);
    },
    bound,
  );
}

/** Asks for a change of the plan that the user was shown, and waits until the designer has the wish. */
export async function askForChange(
  stage: Asking,
  run: WorkflowHandle,
  { question_id }: Pick<Question, 'question_id'>,
  wish: string,
): Promise<void> {
  await run.signal('answer', { question_id, answer: 'change' });
  const next = await eventually('what is to change', async () =>
    (await openOf(stage, run)).find((one) => one.text.startsWith('What is to change')),
  );
  await run.signal('answer', { question_id: next.question_id, answer: wish });
  await eventually('the designer at work', async () => {
    const open = await openOf(stage, run);
    return open.every((one) => one.question_id !== next.question_id);
  });
}

/** Returns the stages of a design that were begun, with what each was about: `research: PostgreSQL`. */
export function stagesOf(calls: readonly RecordedCall[]): string[] {
  const first = calls.filter((call) => bodyOf(call).messages.length === 1);
  return first.flatMap(({ body }) => {
    const text = JSON.stringify(body);
    const [, stage] = /<request kind=\\"design\\" stage=\\"([a-z_]+)\\"/.exec(text) ?? [];
    const [, subject] = /<subject>(?:\\n)?\\"([^"\\]+)\\"/.exec(text) ?? [];
    if (stage === undefined) return [];
    return [subject === undefined ? stage : `${stage}: ${subject}`];
  });
}
