import type { Client } from '@temporalio/client';
import { queryNames, signalNames } from '../../../contracts/names.ts';
import type { PlannerRunResult } from '../../../contracts/planner-run.ts';
import type { QuestionsView } from '../../../contracts/views.ts';
import { eventually } from '../eventually.ts';
import type { PlayedGoal } from './played-goal.ts';

/** Result of a played goal. In characters, because the original tokens were counted as a quarter of them. */
export interface PlayedRun {
  readonly goal: PlayedGoal;
  /** Waves of a run; 1 for a triad or a team that was started alone. */
  readonly waves: number;
  readonly status: string;
  readonly answer: string;
  readonly calls: number;
  /** Length of all replies with tool calls, as JSON. */
  readonly outputChars: number;
  /** Length of what the user asked for, as JSON: the files that were written, or else the answer. */
  readonly answerChars: number;
  /** Number of calls of `load_detail`. */
  readonly loads: number;
}

/** Returns the workflow id of a played goal, by which the model server finds the replies. */
export const playedRunId = (goal: PlayedGoal): string => `played-${goal.name}`;

type Result = Partial<PlannerRunResult> & Pick<PlannerRunResult, 'answer' | 'status' | 'usage'>;

/** Runs a played goal to its end, with the answers of its user. The model server must have the goal's replies. */
export async function runPlayed(
  { client, taskQueue }: { readonly client: Client; readonly taskQueue: string },
  goal: PlayedGoal,
): Promise<PlayedRun> {
  const handle = await client.workflow.start(goal.workflow, {
    taskQueue,
    workflowId: playedRunId(goal),
    args: [goal.input],
  });
  for (const [question_id, answer] of Object.entries(goal.answers)) {
    // Sequential, like the answers of a person.
    // oxlint-disable-next-line no-await-in-loop
    await eventually(`question ${question_id}`, async () => {
      const view = await handle.query<QuestionsView>(queryNames.questions);
      return view.open.some((question) => question.question_id === question_id);
    });
    // oxlint-disable-next-line no-await-in-loop
    await handle.signal(signalNames.answer, { question_id, answer });
  }
  const result: Result = await handle.result();
  const calls = goal.replies.flatMap(({ tools = [] }) => tools);
  const written = calls.filter(({ name }) => name === 'write_file');
  return {
    goal,
    waves: result.waves ?? 1,
    status: result.status,
    answer: result.answer,
    calls: result.usage.calls,
    outputChars: sum(goal.replies.map(measureReply)),
    answerChars:
      written.length === 0
        ? JSON.stringify(result.answer).length
        : sum(written.map(({ input }) => JSON.stringify(input).length)),
    loads: calls.filter(({ name }) => name === 'load_detail').length,
  };
}

function measureReply({ text = '', json, tools = [] }: PlayedGoal['replies'][number]): number {
  const inputs = tools.map(({ input }) => JSON.stringify(input).length);
  return text.length + (json === undefined ? 0 : JSON.stringify(json).length) + sum(inputs);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
