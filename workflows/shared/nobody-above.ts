import { NewsFeed } from './news-feed.ts';
import type { Superior } from './superior.ts';

/**
 * Creates the superior of a conversation that belongs to no run: nobody is asked, nothing is recorded, and trouble that would
 * park a run ends it.
 *
 * @param fail Throws with the reason.
 */
export function nobodyAbove(fail: (reason: string) => never): Superior {
  return {
    news: new NewsFeed(),
    ask: async () => [],
    async park(reason) {
      fail(reason);
    },
    withdraw() {},
    async report() {},
    async reportSession() {},
    know() {},
    refuse() {},
  };
}
