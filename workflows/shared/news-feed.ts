import type { NewsItem } from '../../contracts/messages.ts';
import { addNews, lastNewsId } from '../../core/run/news.ts';

/** What the user and the planner decided while this workflow is at work. `core/run/news` says what is taken. */
export class NewsFeed {
  #news: readonly NewsItem[];
  readonly #listeners: (() => void)[] = [];

  /** @param news What was decided before this workflow began, and is not in the record that it reads. */
  constructor(news: readonly NewsItem[] = []) {
    this.#news = news;
  }

  /** Oldest first. */
  all(): readonly NewsItem[] {
    return this.#news;
  }

  /** The news after the one with this id. */
  since(newsId: number): readonly NewsItem[] {
    return this.#news.filter(({ news_id }) => news_id > newsId);
  }

  /** Id of the newest; 0 when there is none. */
  last(): number {
    return lastNewsId(this.#news);
  }

  /** Takes what a parent hands down. */
  take(arrived: readonly NewsItem[]): void {
    const news = addNews(this.#news, arrived);
    if (news === this.#news) return;
    this.#news = news;
    for (const listener of this.#listeners) listener();
  }

  /** Calls `listener` when something has been added. */
  subscribe(listener: () => void): void {
    this.#listeners.push(listener);
  }
}
