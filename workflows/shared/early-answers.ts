import { CancellationScope, condition } from '@temporalio/workflow';
import type { CarriedInbox } from '../../contracts/planner-run.ts';
import { findEarlyFault, isEarlyAnswer } from '../../core/questions/early-answer.ts';

/** Steps of other work that early answers let go first. A step ends where the work waits for a condition. */
const stepsMax = 20;

/** Answers that wait for their questions, but within the workflow task that brought them. They are taken in their order. */
export class EarlyAnswers {
  readonly #inbox: () => CarriedInbox;
  /** One wait for all of them: a flood must not cost more than its signals. */
  #otherWork: Promise<void> | null = null;

  constructor(inbox: () => CarriedInbox) {
    this.#inbox = inbox;
  }

  /** Returns true for an answer that has to wait, also behind others that do. */
  mustWait(payload: unknown): boolean {
    return this.#otherWork !== null || isEarlyAnswer(this.#inbox(), payload);
  }

  /** @param take Takes the answer, or refuses it for a fault. */
  async take<T>(payload: unknown, take: (fault: string | null) => T | Promise<T>): Promise<T> {
    const before = this.#inbox();
    this.#otherWork ??= otherWork().finally(() => {
      this.#otherWork = null;
    });
    await this.#otherWork;
    return take(findEarlyFault(before, this.#inbox(), payload));
  }
}

/** Resolves when all work that can go on in this workflow task has done its steps. */
function otherWork(): Promise<void> {
  return CancellationScope.nonCancellable(async () => {
    for (let step = 0; step < stepsMax; step += 1) await oneStep();
  });
}

function oneStep(): Promise<void> {
  let looks = 0;
  return condition(() => {
    looks += 1;
    return looks > 1;
  });
}
