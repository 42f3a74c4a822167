/**
 * Asks about tasks of a designed plan that crashed (seed 003, Issue 5), also in a run that goes on from the one in which they
 * did.
 *
 * Invariants:
 *   GO6. A fork asks about the crashed tasks of the last wave, unless the user left them to the planner or wants them again.
 *        What the user wants again is kept from all waves.
 */
import type { CrashedTask } from '../../contracts/adaptation.ts';
import type { AskedQuestion, Question } from '../../contracts/question.ts';
import type { RunRecord } from '../../contracts/run-record.ts';
import type { WaveResult } from '../../contracts/planner-wave.ts';
import { cutText } from '../text/cut-text.ts';

const choices = ['retry', 'leave', 'abandon'];

/** Characters of the reason that the question about a crashed task has. */
const crashReasonCharsMax = 500;

/** Lists the tasks of the plan that crashed, as the question about them shows them. */
export function listCrashed({ outcomes }: Pick<WaveResult, 'outcomes'>): CrashedTask[] {
  return outcomes
    .filter(({ crashes, decides }) => crashes !== undefined && decides !== true)
    .map(({ delegation_id, title, reason }) => ({
      delegation_id,
      title,
      reason: cutText(reason, crashReasonCharsMax),
    }));
}

/** @param crashed At least one. */
export function tasksCrashedQuestion(crashed: readonly CrashedTask[]): AskedQuestion {
  const shown = crashed
    .slice(0, 10)
    .map(
      ({ delegation_id, title, reason }) =>
        `${title} (${delegation_id}): ${cutText(reason, crashReasonCharsMax)}`,
    );
  return {
    text: `${crashed.length === 1 ? 'A task of the plan has' : `${crashed.length} tasks of the plan have`} failed, because the work broke off again and again; all others of the wave have ended. ${shown.join(' · ')}. What now?`,
    why_it_matters:
      'retry: the same is done again in the next wave. leave: the planner decides what takes its place. abandon: the run ends here.',
    priority: 'critical',
    expected_answer_format: 'choice',
    choices,
    default_answer: 'leave',
  };
}

/** Names the delegations that crashed and are wanted again, and the tasks that the user has still to decide on. */
export function settleCrashed({
  waves,
  answered_questions,
}: Pick<RunRecord, 'waves' | 'answered_questions'>): {
  readonly again: readonly string[];
  readonly crashed: readonly CrashedTask[];
} {
  const crashedIn = waves.map((one) => ({ wave: one.wave, crashed: listCrashed(one) }));
  const answerOf = (wave: number): string | undefined =>
    answered_questions.findLast(
      ({ question }) => question?.wave === wave && isAboutCrashes(question),
    )?.answer;
  const again = crashedIn.flatMap(({ wave, crashed }) =>
    answerOf(wave) === 'retry' ? crashed.map(({ delegation_id }) => delegation_id) : [],
  );
  const last = crashedIn.at(-1);
  // Who gave the other run up has not said what becomes of the tasks in this one.
  const isOpen = last !== undefined && !['retry', 'leave'].includes(answerOf(last.wave) ?? '');
  return { again, crashed: isOpen ? last.crashed : [] };
}

/** The engine asks no other question with these choices. */
function isAboutCrashes({ kind, choices: offered }: Pick<Question, 'kind' | 'choices'>): boolean {
  return kind === 'planner_stuck' && offered.join() === choices.join();
}
