/**
 * Decides what a run does between two waves.
 *
 * Invariants:
 *   N1. A run ends as completed exactly when its criteria are done and a planning step has considered all input of the
 *       user.
 *   N2. The planner's io_status neither ends nor prolongs a run.
 *   N3. No wave is planned beyond the allowed number; the open criteria, of which there may be none, are named instead.
 */
import type { CriterionState } from '../../contracts/criterion.ts';
import type { PlannerDecision } from '../../contracts/wave-decision.ts';
import { isDone, openCriteria } from '../criteria/criteria.ts';

export interface BetweenWaves {
  readonly criteria: readonly CriterionState[];
  /** Number of waves that have ended. */
  readonly wave: number;
  readonly waves_allowed: number;
  /** True when no planning step has considered the latest input of the user. */
  readonly input_pending: boolean;
  /** Null before the first decision, and after a wave that ended without one. */
  readonly last_io_status: PlannerDecision['io_status'] | null;
}

export type NextStep =
  | { readonly type: 'wave' }
  | { readonly type: 'waves_spent'; readonly open: readonly string[] }
  | { readonly type: 'end'; readonly status: 'completed' };

export function decideNextStep(s: BetweenWaves): NextStep {
  if (isDone(s.criteria) && !s.input_pending) return { type: 'end', status: 'completed' };
  if (s.wave < s.waves_allowed) return { type: 'wave' };
  return { type: 'waves_spent', open: openCriteria(s.criteria) };
}
