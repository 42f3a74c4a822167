/** Takes waves that have ended into the state of the root workflow, and into what its record keeps. */
import type { WaveOrder, WaveResult } from '../../contracts/planner-wave.ts';
import type { RecordedWave } from '../../contracts/run-record.ts';
import type { Usage } from '../../contracts/usage.ts';
import { carryLostWave } from '../../core/budget/resolve-budget.ts';
import { reopenChanged, waiveCriteria } from '../../core/criteria/criteria.ts';
import { summariseWave } from '../../core/run/decide-next-step.ts';
import { changedInNews } from '../../core/run/news.ts';
import { addUsage } from '../../core/usage/add-usage.ts';
import { definedOnly } from '../../core/json.ts';
import { sumSizes } from '../../core/workspace/run-changes.ts';
import type { NewsFeed } from './news-feed.ts';
import type { RootState } from './root-state.ts';

/**
 * Adds a finished wave. Criteria that the user waived in the meantime stay waived, and what was settled by an answer that has
 * changed since is open again.
 */
export function takeWaveIntoState(
  state: RootState,
  wave: WaveResult,
  news: Pick<NewsFeed, 'since'>,
): void {
  const heard = Math.max(state.news.considered, wave.news_considered);
  const unheard = changedInNews(news.since(heard));
  const reopened = reopenChanged(wave.criteria, unheard);
  state.wave = wave.wave;
  state.usage = addUsage(state.usage, wave.usage);
  state.budget = wave.budget;
  state.criteria = waiveCriteria(reopened, state.waived);
  const io_status = wave.decision?.planner_decision.io_status ?? null;
  const changed = wave.changes !== undefined && { changed: sumSizes(wave.changes) };
  const about = { wave: wave.wave, io_status, ...changed, usage: wave.usage };
  state.waves = [...state.waves, summariseWave(about, wave.outcomes, wave.criteria)];
}

/** Wave that ended without a report. */
export interface LostWave extends Pick<WaveOrder, 'wave' | 'budget'> {
  /** Usage beyond what the run knew of. */
  readonly usage: Usage;
  /** Milliseconds from its start to its end. */
  readonly passedMs: number;
  /** Number of times that the run's limit was raised meanwhile. */
  readonly topUps: number;
}

export function loseWaveInState(
  state: RootState,
  { wave, budget, usage, passedMs, topUps }: LostWave,
): void {
  state.wave = wave;
  state.usage = addUsage(state.usage, usage);
  state.budget = carryLostWave(budget, passedMs, topUps);
}

export function recordedWave(wave: WaveResult): RecordedWave {
  const { wave: number, status, plan_ref, record_ref, outcomes, usage } = wave;
  const { merge_conflicts, task_conflicts } = wave;
  const decision_ref = wave.decision?.decision_ref ?? null;
  return {
    wave: number,
    status,
    plan_ref,
    record_ref,
    outcomes,
    decision_ref,
    ...definedOnly({ merge_conflicts, task_conflicts }),
    usage,
  };
}
