import type { CriterionState } from '../../contracts/criterion.ts';
import type { WaveOrder, WaveResult } from '../../contracts/planner-wave.ts';
import type { DelegationView, WaveView } from '../../contracts/views.ts';
import type { WavePlanOutline } from '../../contracts/wave-plan.ts';
import type { WaveDecisionOutline } from '../../contracts/wave-decision.ts';
import {
  applyOutcomes,
  applyPlan,
  openCriteria,
  reopenCriteria,
} from '../../core/criteria/criteria.ts';
import { checkDecision } from '../../core/decision/check-decision.ts';
import { checkPlan } from '../../core/plan/check-plan.ts';
import { progressOf } from '../shared/progress-of.ts';
import { stopWhenCancelled } from '../shared/stop-when-cancelled.ts';
import { consultPlanner } from './consult-planner.ts';
import type { Consulted } from './consult-planner.ts';
import { dispatchWave } from './dispatch-wave.ts';
import type { Dispatched } from './dispatch-wave.ts';
import type { WaveDesk } from './wave-desk.ts';

/**
 * One wave: plan, dispatch, decide (seed 004 §3–7).
 *
 * @param given The plan, when it came with the input. If null, the planner plans.
 */
export async function runWave(
  order: WaveOrder,
  desk: WaveDesk,
  given: WavePlanOutline | null,
): Promise<WaveResult> {
  let delegations: (() => readonly DelegationView[]) | null = null;
  const show = (phase: WaveView['phase']): void =>
    desk.onView(() => ({
      wave: order.wave,
      phase,
      delegations: delegations?.() ?? [],
      usage: desk.work.usage,
    }));
  const nothing: Dispatched = { outcomes: [], fingerprints: [], stopped: false };

  show('planning');
  const planned = given ?? planOf(await consultPlanner(planning(order), order, desk));
  if (typeof planned === 'string') return resultOf(order, desk, planned, null, nothing, null);
  await stopWhenCancelled(() => desk.onPlanned(progressOf(order.wave, planned, desk.work.usage)));

  const dispatched = await dispatchWave(planned, order, desk, (views) => {
    delegations = views;
    show('dispatching');
  });
  if (dispatched.stopped) return resultOf(order, desk, 'stopped', planned, dispatched, null);

  show('deciding');
  const criteria = criteriaAfter(order, planned, dispatched);
  const decision = decisionOf(
    await consultPlanner(deciding(order, planned, dispatched, criteria), order, desk),
  );
  show('done');
  if (typeof decision === 'string') {
    return resultOf(order, desk, decision, planned, dispatched, null);
  }
  return resultOf(order, desk, 'decided', planned, dispatched, decision);
}

function planning(order: WaveOrder): Parameters<typeof consultPlanner>[0] {
  const { wave, waves_left, record_ref, registry_ref, known_inputs, amendments, limits } = order;
  return {
    shape: 'wave_plan',
    purpose: `plan wave ${wave}`,
    prompt: {
      kind: 'plan',
      wave,
      waves_left,
      record_ref,
      registry_ref,
      open_criteria: openCriteria(order.criteria),
      known_inputs,
      max_delegations: limits.max_delegations,
      amendments,
    },
    check: (outline) => (outline.shape === 'wave_plan' ? checkPlan(outline.plan, order) : []),
    questions: (outline) => (outline.shape === 'wave_plan' ? outline.plan.user_questions : []),
    resumesWithAnswers: true,
  };
}

function deciding(
  order: WaveOrder,
  plan: WavePlanOutline,
  { outcomes }: Dispatched,
  criteria: readonly CriterionState[],
): Parameters<typeof consultPlanner>[0] {
  const { wave, record_ref, amendments } = order;
  return {
    shape: 'wave_decision',
    purpose: `decide on wave ${wave}`,
    prompt: {
      kind: 'decision',
      wave,
      record_ref,
      plan_ref: plan.plan_ref,
      outcomes: outcomes.map((outcome) => ({
        delegation_id: outcome.delegation_id,
        status: outcome.status,
        reason: outcome.reason,
        output_ref: outcome.output_ref,
        criteria_met: outcome.criteria_met,
        criteria_unmet: outcome.criteria_unmet,
      })),
      open_criteria: openCriteria(criteria),
      amendments,
    },
    check: (outline) =>
      outline.shape === 'wave_decision' ? checkDecision(outline.decision, { criteria }) : [],
    questions: (outline) =>
      outline.shape === 'wave_decision' ? outline.decision.user_questions : [],
    resumesWithAnswers: false,
  };
}

type Unfinished = 'stopped' | 'abandoned';

function planOf(consulted: Consulted): WavePlanOutline | Unfinished {
  if (consulted.type !== 'output') return consulted.type;
  return consulted.outline.shape === 'wave_plan' ? consulted.outline.plan : 'abandoned';
}

function decisionOf(consulted: Consulted): WaveDecisionOutline | Unfinished {
  if (consulted.type !== 'output') return consulted.type;
  return consulted.outline.shape === 'wave_decision' ? consulted.outline.decision : 'abandoned';
}

function criteriaAfter(
  order: WaveOrder,
  plan: WavePlanOutline | null,
  { outcomes }: Dispatched,
): CriterionState[] {
  return applyOutcomes(applyPlan(order.criteria, plan?.delegations ?? []), outcomes);
}

function resultOf(
  order: WaveOrder,
  desk: WaveDesk,
  status: WaveResult['status'],
  plan: WavePlanOutline | null,
  dispatched: Dispatched,
  decision: WaveDecisionOutline | null,
): WaveResult {
  const reopened = decision?.criteria_reopened.map(({ criterion_id }) => criterion_id) ?? [];
  return {
    wave: order.wave,
    status,
    plan_ref: plan?.plan_ref ?? null,
    outcomes: dispatched.outcomes,
    decision,
    fingerprints: dispatched.fingerprints,
    criteria: reopenCriteria(criteriaAfter(order, plan, dispatched), reopened),
    usage: desk.work.usage,
  };
}
