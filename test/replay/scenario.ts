import type { WorkflowHandle } from '@temporalio/client';
import { eventually } from '../support/eventually.ts';
import type { Stage, StageOptions } from '../support/stage.ts';

/** One real run, and what of it is kept. */
export interface Scenario {
  /** The run's id, and part of the names of its files. */
  readonly name: string;
  /** On a server that suggests continue-as-new early. */
  readonly isContinued?: boolean;
  /** A command is told that the run needs its user, and of its end. */
  readonly isTold?: boolean;
  /** With a model that has a price. */
  readonly isPriced?: boolean;
  /** Defined in StageOptions. */
  readonly failsOnce?: StageOptions['failsOnce'];
  /** Workflow id below the run, or its beginning and `*`, of the run's first or last execution → name of the file without its version. */
  readonly keep: Readonly<Record<string, { readonly first?: string; readonly last?: string }>>;
  readonly play: (stage: Stage, runId: string) => Promise<void>;
}

export const goal = 'Compare three ways to store a backup';

/** Answers the first open question, by its first choice if it has any. */
export async function answerFirst(stage: Stage, run: WorkflowHandle): Promise<void> {
  const asked = await eventually('a question', async () => (await stage.questions(run)).open[0]);
  await run.signal('answer', {
    question_id: asked.question_id,
    answer: asked.choices[0] ?? 'eu-west',
  });
}
