import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { BudgetInput } from '../../../contracts/budget.ts';
import type { PlannerRunInput } from '../../../contracts/planner-run.ts';
import type { AskedQuestion, Question } from '../../../contracts/question.ts';
import type { Reply, ScriptedRequest } from '../../../rehearsal/script.ts';
import { blocked, completed } from '../../support/scripted-work.ts';
import { toldAnswers } from '../conversation.ts';

/** Folders on the machine of the workers. */
export interface RunPlace {
  readonly home: string;
  /** The user's folders are below it. */
  readonly workspaces: string;
}

/**
 * A run that the campaign hurts. Its replies depend on the conversation alone, never on how often a call was made, so a run
 * that was hurt must come to the same artifacts, byte for byte.
 */
export interface ReferenceRun {
  readonly input: (runId: string, place: RunPlace) => PlannerRunInput;
  /** Ids of its delegations. */
  readonly taskIds: readonly string[];
  /** The questions that it asks, all at the same time if nobody answers. */
  readonly askings: readonly Asking[];
  /** Whether a question waits for the answers to earlier ones. Default false: all come at the same time. */
  readonly asksInSteps?: boolean;
  /** Answers each open question, whoever asks it, as soon as it is open. Default: `askings` has all answers. */
  readonly answerTo?: (question: Question) => string;
  /** Files of the user's folder before it starts. Default: it has no such folder. */
  readonly files?: Readonly<Record<string, string>>;
  /** Messages right after its start. Default: none. */
  readonly early?: readonly ('amend' | 'pause and resume')[];
  /** Whether its budget is so small that it asks for more; how often depends on what is done to it. Default false. */
  readonly asksForMore?: boolean;
  /** Whether its server wants workflows to continue as new early. Default false. */
  readonly hasShortHistories?: boolean;
  /** Replies to a call, always in the same way, however often it is made. */
  readonly replyTo: (request: ScriptedRequest) => Reply;
}

/** Limit that no run reaches, however it is hurt, so that it asks for no more; its calls are reserved all the same. */
export const campaignBudget: BudgetInput = { calls: 500 };

/** A question with the user's answer, and a different answer that comes too late. */
export interface Asking {
  /** Its default is the answer, so a run that takes the defaults comes to the same artifacts. */
  readonly asked: AskedQuestion;
  readonly answer: string | number;
  readonly tooLate: string | number;
}

/** An output with what its agent was told in it: a wrong answer is another artifact. */
export function completedAsTold(criterion: string, told: readonly string[]) {
  const output = completed(criterion);
  return { ...output, detailed_md: `${output.detailed_md}\nTold: ${told.join(', ')}\n` };
}

/** Tells turns of a triad's members, and reviews: the rehearsed planner passes each critical question on to the user. */
export function isRehearsed(shape: ScriptedRequest['shape']): boolean {
  return shape === null || shape === 'review';
}

/** Asks first, and delivers what it was told. */
export function asksFirst(body: unknown, criterion: string, { asked }: Asking): Reply {
  const told = toldAnswers(body);
  return {
    json: told === undefined ? blocked([asked], criterion) : completedAsTold(criterion, told),
  };
}

/** Writes the user's folder for a run. @returns its path. */
export function provideWorkspace(
  { workspaces }: RunPlace,
  runId: string,
  files: Readonly<Record<string, string>>,
): string {
  const folder = join(workspaces, runId);
  for (const [path, text] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return folder;
}
