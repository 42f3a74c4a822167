import type { CriteriaByAnswers, CriterionState } from '../../contracts/criterion.ts';
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { NewsItem } from '../../contracts/messages.ts';
import {
  applyOutcomes,
  applyPlan,
  reopenChanged,
  reopenCriteria,
  settleByAnswers,
  waiveCriteria,
} from '../criteria/criteria.ts';
import { changedInNews, waivedInNews } from './news.ts';

/** Parts of a wave that change criteria. */
interface WaveOfCriteria {
  /** Null without a plan. */
  readonly plan:
    | (CriteriaByAnswers & { readonly delegations: Parameters<typeof applyPlan>[1] })
    | null;
  readonly outcomes: readonly DelegationOutcome[];
  /** Null before and without it. */
  readonly decision:
    | (CriteriaByAnswers & { readonly criteria_reopened: readonly { criterion_id: string }[] })
    | null;
  /** Decisions of the user since the wave was ordered. */
  readonly news: readonly NewsItem[];
  /** The newest news items that plan and decision had heard. */
  readonly heard: { readonly plan: number; readonly decision: number };
}

/** Returns the criteria after a wave, or after its work so far. @param criteria Those with which it began. */
export function settleWave(
  criteria: readonly CriterionState[],
  { plan, outcomes, decision, news, heard }: WaveOfCriteria,
): CriterionState[] {
  const reopen = (of: readonly CriterionState[], after: number, until: number): CriterionState[] =>
    reopenChanged(of, changedInNews(between(news, after, until)));
  const waived = waivedInNews(news);
  const toDecision = decision === null ? Infinity : heard.decision;
  const known = applyPlan(reopen(criteria, 0, heard.plan), plan?.delegations ?? []);
  const worked = applyOutcomes(settleByAnswers(known, plan ?? {}), outcomes);
  const before = waiveCriteria(reopen(worked, heard.plan, toDecision), waived);
  const reopened = decision?.criteria_reopened.map(({ criterion_id }) => criterion_id) ?? [];
  const decided = settleByAnswers(reopenCriteria(before, reopened), decision ?? {});
  return waiveCriteria(reopen(decided, toDecision, Infinity), waived);
}

/** Maps criterion_ids to the reasons why they are not met: the last ones of the delegations that tried. */
export function explainCriteria(outcomes: readonly DelegationOutcome[]): Map<string, string> {
  const reasons = new Map<string, string>();
  for (const { delegation_id, reason, criteria_unmet } of outcomes) {
    if (reason === '') continue;
    for (const id of criteria_unmet) reasons.set(id, `${delegation_id}: ${reason}`);
  }
  return reasons;
}

function between(news: readonly NewsItem[], after: number, until: number): readonly NewsItem[] {
  return news.filter(({ news_id }) => news_id > after && news_id <= until);
}
