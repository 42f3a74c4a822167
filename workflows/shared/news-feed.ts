import type { NewsItem } from '../../contracts/messages.ts';
import { addNews, lastNewsId } from '../../core/run/news.ts';

/** Decisions of the user and the planner while this workflow works. `core/run/news` selects them. */
export class NewsFeed {
  #news: readonly NewsItem[];
  readonly #listeners: (() => void)[] = [];
  #heard = 0;

  /** @param news Decisions before this workflow began that are not in the record that it reads. */
  constructor(news: readonly NewsItem[] = []) {
    this.#news = news;
  }

  /** Oldest first. */
  all(): readonly NewsItem[] {
    return this.#news;
  }

  /** Returns the news after the item with this id. */
  since(newsId: number): readonly NewsItem[] {
    return this.#news.filter(({ news_id }) => news_id > newsId);
  }

  /** Returns the id of the newest item; 0 when there is none. */
  last(): number {
    return lastNewsId(this.#news);
  }

  /** Adds news that a parent delivered. */
  take(arrived: readonly NewsItem[]): void {
    const news = addNews(this.#news, arrived);
    if (news === this.#news) return;
    this.#news = news;
    for (const listener of this.#listeners) listener();
  }

  /** Notes that a call in this workflow was told the items up to this id. */
  hear(newsId: number): void {
    this.#heard = Math.max(this.#heard, newsId);
  }

  /** Returns the id of the newest item that a call in this workflow was told; 0 for none. */
  heard(): number {
    return this.#heard;
  }

  /** Calls `listener` after each addition. */
  subscribe(listener: () => void): void {
    this.#listeners.push(listener);
  }
}

/** Returns the news since the last call of a conversation, without the answers to its own questions. */
export function unheardNews(
  news: Pick<NewsFeed, 'since'>,
  { news_id, answered }: { readonly news_id: number; readonly answered: readonly string[] },
): readonly NewsItem[] {
  return news
    .since(news_id)
    .filter((one) => one.type !== 'answer' || one.changed || !answered.includes(one.question_id));
}

/** News of one call. */
export interface CallNews {
  /** The newest item that the call has been told, or need not be. */
  readonly last: () => number;
  /** Returns what the call is told when it is made now. */
  readonly read: () => readonly NewsItem[];
}

/** Follows the news until a call is made: it may wait, for a resume or for its share of a budget. */
export function followNews(
  feed: Pick<NewsFeed, 'since' | 'last'>,
  conversation: Parameters<typeof unheardNews>[1],
): CallNews {
  let last = feed.last();
  return {
    last: () => last,
    read() {
      last = feed.last();
      return unheardNews(feed, conversation);
    },
  };
}
