import { condition } from '@temporalio/workflow';
import type { CancellationScope } from '@temporalio/workflow';
import { hasEnded } from '../../core/schedule/schedule.ts';
import type { Account } from '../shared/account.ts';
import type { Reviewed } from './put-questions.ts';
import { chooseAsker, findWaitCycle } from '../../core/questions/check-review.ts';
import type { AwaitedResults, Waiting } from '../../core/questions/check-review.ts';

interface ReviewedWave {
  readonly account: Account | null;
  /** The wave's own scope: reviews belong to it, so `stop` cancels them even if a handler begins them. */
  readonly scope: CancellationScope;
  readonly entries: () => readonly Waiting[];
}

/** Review that waits for its turn. */
interface Requested {
  readonly asker: string;
  readonly work: () => Promise<Reviewed>;
  readonly resolve: (reviewed: Reviewed) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Runs the planner's reviews of questions one after the other, because they share the planner's budget: first those of the
 * delegation that holds up most. Holds back questions until the results are there that are to settle them.
 */
export class ReviewQueue {
  readonly #wave: ReviewedWave;
  readonly #requested: Requested[] = [];
  /** Results that settle questions: those that the planner awaits, and decisions of the solution architect. */
  readonly #awaited = new Set<AwaitedResults>();
  #reviews = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(wave: ReviewedWave) {
    this.#wave = wave;
  }

  /** Returns true while a review runs: the wave ends only after its cost is counted. */
  isReviewing(): boolean {
    return this.#reviews > 0;
  }

  /** Denies a review when the budget is spent: the decision on the wave then judges the questions. */
  async review(asker: string, work: () => Promise<Reviewed>): Promise<Reviewed> {
    const { account, scope } = this.#wave;
    const verdict = account?.verdict() ?? 'open';
    if (verdict !== 'open') return { type: 'denied', reason: 'the budget is spent' };
    this.#reviews += 1;
    const reviewed = new Promise<Reviewed>((resolve, reject) => {
      this.#requested.push({ asker, work, resolve, reject });
    });
    const turn = this.#last;
    const task = (async () => {
      await turn;
      const next = this.#takeNext();
      try {
        next?.resolve(await scope.run(next.work));
      } catch (error) {
        next?.reject(error);
      } finally {
        this.#reviews -= 1;
      }
    })();
    this.#last = task.catch(() => null);
    return reviewed;
  }

  /** Defined in Reviewing. */
  untilEnded(asker: string, delegationIds: readonly string[]): Promise<readonly string[] | null> {
    const { entries, scope } = this.#wave;
    return this.awaiting(asker, delegationIds, async (results) => {
      const cycle = findWaitCycle(asker, [...this.#awaited], entries());
      if (cycle !== null) return cycle;
      await scope.run(() => condition(() => this.#hasEnded([asker]) || this.#hasEnded(results)));
      return null;
    });
  }

  /**
   * Lets a delegation await results while some work goes on.
   *
   * @param work Is given the list of them, to which it may add.
   */
  async awaiting<T>(
    asker: string,
    delegationIds: readonly string[],
    work: (results: string[]) => Promise<T>,
  ): Promise<T> {
    const results = [...delegationIds];
    const awaited = { asker, results };
    this.#awaited.add(awaited);
    try {
      return await work(results);
    } finally {
      this.#awaited.delete(awaited);
    }
  }

  /** Takes the next request out of the queue: there is one for each turn. */
  #takeNext(): Requested | undefined {
    const askers = this.#requested.map(({ asker }) => asker);
    const place = chooseAsker(askers, [...this.#awaited], this.#wave.entries());
    return this.#requested.splice(place, 1)[0];
  }

  #hasEnded(ids: readonly string[]): boolean {
    return this.#wave
      .entries()
      .every(({ delegation_id, state }) => !ids.includes(delegation_id) || hasEnded(state));
  }
}
