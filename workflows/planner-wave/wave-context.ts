import type { CriterionState } from '../../contracts/criterion.ts';
import type { WaveProgress } from '../../contracts/messages.ts';
import type { WaveOrder } from '../../contracts/planner-wave.ts';
import type { KnownAnswer } from '../../contracts/question.ts';
import type { Usage } from '../../contracts/usage.ts';
import type { WaveView } from '../../contracts/views.ts';
import { waiveCriteria } from '../../core/criteria/criteria.ts';
import { reopenChanged } from '../../core/criteria/settle-by-answers.ts';
import { answersInNews, changedInNews, waivedInNews } from '../../core/run/news.ts';
import { addUsage, noUsage } from '../../core/usage/add-usage.ts';
import type { Control } from '../shared/control.ts';
import type { Conversation } from '../shared/conversation.ts';
import type { NewsFeed } from '../shared/news-feed.ts';
import type { Superior } from '../shared/superior.ts';

/** What a wave is given besides its order, and what it notes while it works. */
export interface WaveContext {
  readonly control: Control;
  readonly superior: Superior;
  /** Tells the run, or the record of a wave alone, what was planned. */
  readonly onPlanned: (progress: WaveProgress) => Promise<void>;
  /** Called when something that people see has changed. A view of many delegations is long: make it when it is shown. */
  readonly onView: (view: () => WaveView) => void;
  readonly work: WaveWork;
}

/** Names that a delegation may require: those of the record, and answers that came since. */
export function knownInputs(order: WaveOrder, news: NewsFeed): readonly string[] {
  const answered = answersInNews(news.all()).map(({ question_id }) => question_id);
  return [...new Set([...order.known_inputs, ...answered])];
}

/** Answers that the wave knows, with those that came since it was ordered. */
export function knownAnswers(order: WaveOrder, news: NewsFeed): readonly KnownAnswer[] {
  const since = answersInNews(news.all());
  const newer = new Set(since.map(({ question_id }) => question_id));
  return [...order.answered_questions.filter((one) => !newer.has(one.question_id)), ...since];
}

/** The criteria after what the user has given up, and which answers were changed, since the wave was ordered. */
export function settleByNews(
  criteria: readonly CriterionState[],
  news: NewsFeed,
): readonly CriterionState[] {
  const reopened = reopenChanged(criteria, changedInNews(news.all()));
  return waiveCriteria(reopened, waivedInNews(news.all()));
}

/** What there is to see before a wave shows itself. */
export function viewBefore(wave: number): WaveView {
  return { wave, phase: 'planning', delegations: [], usage: noUsage, at_work: [] };
}

export interface WaveWork {
  /** Of the planner's conversations in this wave that are over, and of delegations that have ended. */
  usage: Usage;
  /** As in WaveResult. */
  newsConsidered: number;
  /** The planner's conversations under way. */
  readonly talks: Set<Conversation>;
  /** Escalations of the planner so far; they number the next. */
  escalations: number;
}

export function beginWaveWork(): WaveWork {
  return { usage: noUsage, newsConsidered: 0, talks: new Set(), escalations: 0 };
}

/** Of the planner until now, and of delegations that have ended. */
export function usageUntilNow({ usage, talks }: WaveWork): Usage {
  return addUsage(usage, ...[...talks].map((talk) => talk.usage));
}
