import { CancellationScope, isCancellation, sleep, workflowInfo } from '@temporalio/workflow';
import type { Question } from '../../contracts/question.ts';
import { describeMoment } from '../../core/render/questions.ts';
import { nowSeconds } from './clock.ts';
import { questionMoments, whenComes } from '../../core/questions/inbox-event.ts';
import type { QuestionMoment } from '../../core/questions/inbox-event.ts';
import { inBackground } from './background.ts';

export interface QuestionTimersOptions {
  /** Returns the present state of the question, or undefined when it is no longer open. */
  readonly find: (questionId: string) => Question | undefined;
  readonly onMoment: (moment: QuestionMoment, questionId: string) => void;
}

/** Timers of open questions, which appear under their names in the Web UI. */
export class QuestionTimers {
  readonly #options: QuestionTimersOptions;
  readonly #scopes = new Map<string, CancellationScope>();

  constructor(options: QuestionTimersOptions) {
    this.#options = options;
  }

  start(questionId: string): void {
    const scope = new CancellationScope();
    this.#scopes.set(questionId, scope);
    for (const moment of questionMoments) {
      inBackground(() => this.#keep(moment, questionId, scope));
    }
  }

  cancel(questionId: string): void {
    this.#scopes.get(questionId)?.cancel();
    this.#scopes.delete(questionId);
  }

  /** Waits for the moments of a question. Reminders repeat; the others happen once. */
  async #keep(moment: QuestionMoment, id: string, scope: CancellationScope): Promise<void> {
    for (;;) {
      const question = this.#options.find(id);
      const now = nowSeconds();
      const at = question === undefined ? null : whenComes(moment, question, now);
      if (question === undefined || at === null) return;
      const summary = describeMoment(moment, question, workflowInfo().workflowId);
      try {
        // Only the timer belongs to the scope: its consequences must not end with the question.
        await scope.run(() => sleep(Math.max(at - now, 0) * 1_000, { summary }));
      } catch (error) {
        if (isCancellation(error)) return;
        throw error;
      }
      this.#options.onMoment(moment, id);
      if (moment !== 'reminder') return;
    }
  }
}
