import type { WaveProgress } from '../../contracts/messages.ts';
import type { WaveOrder } from '../../contracts/planner-wave.ts';
import type { KnownAnswer } from '../../contracts/question.ts';
import type { Usage } from '../../contracts/usage.ts';
import type { DelegationStatusView, WaveView } from '../../contracts/views.ts';
import { isRecord } from '../../core/json.ts';
import { waiveCriteria, reopenChanged } from '../../core/criteria/criteria.ts';
import { answersInNews, changedInNews, waivedInNews } from '../../core/run/news.ts';
import { addUsage, noUsage } from '../../core/usage/add-usage.ts';
import type { Control } from '../shared/control.ts';
import type { Conversation } from '../shared/conversation.ts';
import type { NewsFeed } from '../shared/news-feed.ts';
import type { Superior } from '../shared/superior.ts';
import type { CriterionState } from '../../contracts/criterion.ts';

/** Everything that a wave works with besides its order. */
export interface WaveContext {
  readonly control: Control;
  readonly superior: Superior;
  /** Reports the plan to the run, or to the record of a wave without one. */
  readonly onPlanned: (progress: WaveProgress) => Promise<void>;
  /** Called after each visible change. A view of many delegations is long: it is built only when it is shown. */
  readonly onView: (view: () => WaveView) => void;
  readonly work: WaveWork;
}

/** Returns the names that a delegation may require: those of the record, and later answers. */
export function knownInputs(order: WaveOrder, news: NewsFeed): readonly string[] {
  const answered = answersInNews(news.all()).map(({ question_id }) => question_id);
  return [...new Set([...order.known_inputs, ...answered])];
}

/** Returns the answers of the order, updated by later ones. */
export function knownAnswers(order: WaveOrder, news: NewsFeed): readonly KnownAnswer[] {
  const since = answersInNews(news.all());
  const newer = new Set(since.map(({ question_id }) => question_id));
  return [...order.answered_questions.filter((one) => !newer.has(one.question_id)), ...since];
}

/** Applies the user's waivers and changed answers since the wave was ordered to the criteria. */
export function settleByNews(
  criteria: readonly CriterionState[],
  news: NewsFeed,
): readonly CriterionState[] {
  const reopened = reopenChanged(criteria, changedInNews(news.all()));
  return waiveCriteria(reopened, waivedInNews(news.all()));
}

/** Returns the view of a wave before its first own one. */
export function viewBefore(wave: number): WaveView {
  return { wave, phase: 'planning', delegations: [], usage: noUsage, at_work: [] };
}

interface WaveWork {
  /** Use of the planner's finished conversations in this wave, and of delegations that have ended. */
  usage: Usage;
  /** The newest news item that the planner had for the plan; 0 before, and for one that came with the order. */
  newsPlanned: number;
  /** Defined in WaveResult. */
  newsConsidered: number;
  readonly talks: Set<Conversation>;
  /** Number of the planner's escalations so far; the next one gets the next number. */
  escalations: number;
  /** Newest status of each delegation that works, or has worked, in this workflow. */
  readonly statuses: Map<string, DelegationStatusView>;
}

export function beginWaveWork(): WaveWork {
  return {
    usage: noUsage,
    newsPlanned: 0,
    newsConsidered: 0,
    talks: new Set(),
    escalations: 0,
    statuses: new Map(),
  };
}

/** Answers the query `status` for a delegation in this workflow: `{"delegation_id":"…"}`. @returns null for any other. */
export function statusOf({ statuses }: WaveWork, asked: unknown): DelegationStatusView | null {
  const id = isRecord(asked) ? asked['delegation_id'] : undefined;
  return typeof id === 'string' ? (statuses.get(id) ?? null) : null;
}

/** Sums the use of the planner until now, and of delegations that have ended. */
export function usageUntilNow({ usage, talks }: WaveWork): Usage {
  return addUsage(usage, ...[...talks].map((talk) => talk.usage));
}
