/**
 * Decides what a run does between two waves.
 *
 * Invariants:
 *   N1. A run ends as completed exactly when its criteria are done and a planning step has considered all input of the
 *       user.
 *   N2. The planner's io_status neither ends nor prolongs a run.
 *   N3. No wave is planned beyond the allowed number; the open criteria, of which there may be none, are named instead.
 */
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { WaveSummary } from '../../contracts/planner-run.ts';
import type { CriterionState } from '../../contracts/criterion.ts';
import { isDone, openCriteria } from '../criteria/criteria.ts';
import type { RunLimits } from '../../contracts/limits.ts';
import type { Question } from '../../contracts/question.ts';
import { cutText } from '../text/cut-text.ts';
import type { PlannerDecision } from '../../contracts/wave-plan.ts';

interface BetweenWaves {
  readonly criteria: readonly CriterionState[];
  /** Number of waves that have ended. */
  readonly wave: number;
  readonly waves_allowed: number;
  /** True when no planning step has considered the latest input of the user. */
  readonly input_pending: boolean;
  /** Null before the first decision, and after a wave that ended without one. */
  readonly last_io_status: PlannerDecision['io_status'] | null;
}

type NextStep =
  | { readonly type: 'wave' }
  | { readonly type: 'waves_spent'; readonly open: readonly string[] }
  | { readonly type: 'end'; readonly status: 'completed' };

export function decideNextStep(s: BetweenWaves): NextStep {
  if (isDone(s.criteria) && !s.input_pending) return { type: 'end', status: 'completed' };
  if (s.wave < s.waves_allowed) return { type: 'wave' };
  return { type: 'waves_spent', open: openCriteria(s.criteria) };
}

/**
 * Number of signals after which a run continues as new.
 *
 * Invariants:
 *   FL1. The server refuses signals to an execution that has taken its limit, those of the run's own children too. A run
 *        whose execution has taken `max_signals` begins another one before that, and ends the wave at work for it.
 */

/** @param limits Null before the input was read. */
export function isFlooded(signals: number, limits: Pick<RunLimits, 'max_signals'> | null): boolean {
  return limits !== null && signals >= limits.max_signals;
}

/**
 * Words the end of a run that nobody attends, so that it can be told from one that a person stopped.
 *
 * Invariants:
 *   UN1. The reason of such an end is recognised, and no reason that a person typed without these words is.
 */

const mark = 'This run is unattended, and only a person can answer:';

export function describeUnanswered({
  question_id,
  text,
}: Pick<Question, 'question_id' | 'text'>): string {
  return `${mark} ${cutText(text, 200)} (${question_id})`;
}

/** Returns true for the reason of a run that ended at a question. */
export function isUnanswered(stopReason: string | undefined): boolean {
  return readUnanswered(stopReason) !== null;
}

/** Returns the question at which an unattended run ended, with its id; null for every other end. */
export function readUnanswered(stopReason: string | undefined): string | null {
  return stopReason?.startsWith(mark) === true ? stopReason.slice(mark.length).trim() : null;
}

/** Sums up a finished wave, for views and for the waves after it. */
export function summariseWave(
  {
    wave,
    io_status,
    usage,
    changed,
  }: Pick<WaveSummary, 'wave' | 'io_status' | 'usage' | 'changed'>,
  outcomes: readonly Pick<DelegationOutcome, 'status'>[],
  criteria: readonly Pick<CriterionState, 'state'>[],
): WaveSummary {
  const count = (status: DelegationOutcome['status']): number =>
    outcomes.filter((outcome) => outcome.status === status).length;
  return {
    wave,
    io_status,
    completed: count('completed'),
    failed: count('failed'),
    skipped: count('skipped'),
    criteria_met: criteria.filter(({ state }) => state === 'met').length,
    criteria_open: criteria.filter(({ state }) => state === 'open').length,
    ...(changed !== undefined && { changed }),
    usage,
  };
}
