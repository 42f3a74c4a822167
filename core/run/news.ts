/**
 * Decisions of the user and the planner while a run works, passed down to all conversations at work.
 *
 * Invariants:
 *   NW1. News items are taken once, in the order of their ids, even if they arrive twice or late.
 *   NW2. The newest `newsKeptMax` are kept.
 *   NW3. A planning step has to consider only input of people.
 *   NW4. An answer names each standing value of its fact that it contradicts.
 *   NW5. A workflow that gets the answers to its questions has all news that its parent had when it sent them.
 */
import type { NewsAnswer, NewsInstruction, NewsItem } from '../../contracts/messages.ts';
import type { AnsweredQuestion, AskedQuestion, KnownAnswer } from '../../contracts/question.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { RecordChange } from '../../contracts/run-record.ts';
import { engineLimits } from '../limits.ts';
import { isSameValue, normaliseKey } from '../pool/admit-facts.ts';
import { cutText } from '../text/cut-text.ts';
import type { Fact } from '../../contracts/agent-output.ts';
import { isPerson } from '../questions/answer-kinds.ts';

/** @returns the news with those items of `arrived` that are newer than all of them. */
export function addNews(
  news: readonly NewsItem[],
  arrived: readonly NewsItem[],
): readonly NewsItem[] {
  const taken = [...news];
  for (const item of arrived.toSorted((a, b) => a.news_id - b.news_id)) {
    if (item.news_id > lastNewsId(taken)) taken.push(item);
  }
  return taken.length === news.length ? news : taken.slice(-engineLimits.newsKeptMax);
}

/** News before the workflow with the inbox has numbered them. */
export type UnnumberedNews = Omit<NewsAnswer, 'news_id'> | Omit<NewsInstruction, 'news_id'>;

/** An answer as others are told of it. */
export type ToldAnswer = AnsweredQuestion & Pick<NewsAnswer, 'contradicts'>;

/** @param changed True when it replaces an earlier answer. */
export function newsOfAnswer(
  answered: Omit<ToldAnswer, 'source_refs' | 'answered_at'>,
  answerRef: Ref | null,
  changed: boolean,
): Omit<NewsAnswer, 'news_id'> {
  const { question_id, answer, answered_by, delegation_id, contradicts } = answered;
  const shown = cutText(answered.text, engineLimits.newsQuestionCharsMax);
  const about = { question_id, text: shown, answer, answer_ref: answerRef };
  return {
    type: 'answer',
    ...about,
    answered_by,
    delegation_id,
    changed,
    ...(contradicts !== undefined && { contradicts }),
  };
}

/** Characters of the values that an answer contradicts. */
const contradictsCharsMax = 400;

/**
 * Names the standing facts of the question's key that have another value than the answer.
 *
 * @param facts Those of the pool that are known here, without the answer's own.
 */
export function contradictionOf(
  { fact_key }: Pick<AskedQuestion, 'fact_key'>,
  answer: string,
  facts: readonly Fact[],
): Pick<NewsAnswer, 'contradicts'> {
  const key = fact_key === undefined ? null : normaliseKey(fact_key);
  const others = facts.filter(
    (one) =>
      key !== null &&
      one.key === key &&
      one.superseded_by === null &&
      !isSameValue(one.value ?? '', answer),
  );
  if (others.length === 0) return {};
  const named = others.map(({ value, source_refs: [source = ''] }) => `${value} (${source})`);
  return { contradicts: cutText(named.join('; '), contradictsCharsMax) };
}

/** @returns 0 when there are none. */
export function lastNewsId(news: readonly NewsItem[]): number {
  return news.at(-1)?.news_id ?? 0;
}

/** @returns the answers, the newest of each question. */
export function answersInNews(news: readonly NewsItem[]): KnownAnswer[] {
  const newest = new Map(
    news.flatMap((one) => (one.type === 'answer' ? [[one.question_id, one]] : [])),
  );
  return [...newest.values()].map(({ question_id, answered_by }) => ({ question_id, answered_by }));
}

/** @returns question_ids of answers that replaced others. */
export function changedInNews(news: readonly NewsItem[]): string[] {
  return news.flatMap((one) => (one.type === 'answer' && one.changed ? [one.question_id] : []));
}

/** @returns criterion_ids that the user waived. */
export function waivedInNews(news: readonly NewsItem[]): string[] {
  return news.flatMap((one) => (one.type === 'instruction' ? one.criteria_waived : []));
}

/** Returns true for answers of people and instructions, false for answers of the engine, a default or the planner. */
export function isFromUser(item: NewsItem): boolean {
  return item.type === 'instruction' || isPerson(item.answered_by);
}

/**
 * Takes the oldest changes that one write of the record may carry: as an input of an activity they share one payload,
 * and the server refuses the whole workflow task if it is larger. The first change is always taken, and so is one that
 * begins within the limit: each alone is bounded.
 */
export function takeChanges(queue: readonly RecordChange[]): readonly RecordChange[] {
  let chars = 0;
  const end = queue.findIndex((change) => {
    const isFull = chars >= engineLimits.recordChangeCharsMax;
    chars += JSON.stringify(change).length;
    return isFull;
  });
  return queue.slice(0, Math.min(end < 0 ? queue.length : end, engineLimits.recordChangesMax));
}
