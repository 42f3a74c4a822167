import { log } from '@temporalio/workflow';
import type { WaveOrder, WaveResult } from '../../contracts/planner-wave.ts';
import type { WaveView } from '../../contracts/views.ts';
import { plannerChild } from '../../core/budget/step-account.ts';
import { metrics } from '../../core/metrics/metrics.ts';
import { applyRuleOfTwo } from '../../core/plan/rule-of-two.ts';
import type { RuledPlan } from '../../core/plan/rule-of-two.ts';
import { addVerifiers } from '../../core/verification/choose-verifier.ts';
import { endedBy, openAccount } from '../shared/account.ts';
import { secondsSince, nowMs } from '../shared/clock.ts';
import type { Account } from '../shared/account.ts';
import { consultPlanner } from './consult-planner.ts';
import type { Consulted } from './consult-planner.ts';
import { dispatchWave } from './dispatch-wave.ts';
import type { Dispatched, DispatchView } from './dispatch-wave.ts';
import { knownAnswers, usageUntilNow } from './wave-context.ts';
import type { WaveContext } from './wave-context.ts';
import { criteriaAfter, deciding, planning, addMergeConflicts } from './consultations.ts';
import { chooseMode, countForMode } from '../../core/design/graph.ts';
import { stopWhenCancelled } from '../shared/failures.ts';
import type { WaveDecisionOutline, WavePlanOutline } from '../../contracts/wave-plan.ts';
import type { ModeChoice } from '../../contracts/limits.ts';
import { recorder } from '../shared/in-span.ts';
import { progressOf } from '../shared/messages.ts';
import { definedOnly } from '../../core/json.ts';

/**
 * One wave: plan, dispatch, decide (seed 004 §3–7).
 *
 * @param given The plan, when it came with the input. If null, the planner plans.
 */
export async function runWave(
  order: WaveOrder,
  context: WaveContext,
  given: WavePlanOutline | null,
): Promise<WaveResult> {
  const beganAtMs = nowMs();
  const result = await carryOut(order, context, given);
  const { status } = result;
  recorder.observe(metrics.waveDuration, { status }, secondsSince(beganAtMs));
  log.info('wave ended', { status });
  return result;
}

function rulePlan(plan: WavePlanOutline, order: WaveOrder): RuledPlan {
  return applyRuleOfTwo(addVerifiers(plan, order), order);
}

/** Adds the tasks that the wave took while it worked. */
function withAdded(
  ruled: RuledPlan,
  { plan = ruled.plan, taint = ruled.taint }: Dispatched,
): RuledPlan {
  return { plan, ...(taint !== undefined && { taint }) };
}

async function reportPlan(
  { wave }: WaveOrder,
  plan: WavePlanOutline,
  chosen: ModeChoice | null,
  { work, onPlanned }: WaveContext,
): Promise<void> {
  const progress = progressOf(wave, plan, work.usage);
  await stopWhenCancelled(() =>
    onPlanned({ ...progress, ...(chosen !== null && { mode: chosen }) }),
  );
}

async function carryOut(
  order: WaveOrder,
  context: WaveContext,
  given: WavePlanOutline | null,
): Promise<WaveResult> {
  let dispatching: (() => DispatchView) | null = null;
  let changes: Dispatched['changes'];
  const show = (phase: WaveView['phase']): void =>
    context.onView(() => ({
      wave: order.wave,
      phase,
      ...(dispatching?.() ?? { delegations: [], at_work: [] }),
      ...(changes !== undefined && { changes }),
      usage: usageUntilNow(context.work),
    }));
  const nothing: Dispatched = { outcomes: [], fingerprints: [], stopped: false };
  const { wave, limits } = order;
  const { account, budget } = openAccount(order.budget, { ...context, limits, wave }, plannerChild);
  const plannerContext = { ...context, budget };
  let ruled = given === null ? null : rulePlan(given, order);
  const end = (
    status: WaveResult['status'],
    dispatched: Dispatched,
    decision: WaveDecisionOutline | null,
  ): WaveResult => ({
    ...resultOf(order, context, status, ruled?.plan ?? null, dispatched, decision),
    ...(ruled?.taint !== undefined && { taint: ruled.taint }),
    budget: account?.carry() ?? null,
  });

  show('planning');
  if (ruled === null) {
    const plan = planOf(
      await consultPlanner(planning(order, context), order, plannerContext),
      account,
    );
    context.work.newsPlanned = context.work.newsConsidered;
    if (typeof plan === 'string') return end(plan, nothing, null);
    ruled = rulePlan(plan, order);
  }
  const { plan } = ruled;
  const chosen = chooseFor(order, plan, context);
  // Nothing of a plan that calls for a design is shown or given out.
  if (chosen?.mode === 'designed') {
    const { plan_ref } = plan;
    ruled = null;
    return { ...end('decided', nothing, null), chosen: { ...chosen, plan_ref } };
  }
  await reportPlan(order, plan, chosen, context);

  // The planner had nothing to give out: no criterion is open, and nothing follows from what the user said.
  if (plan.delegations.length === 0) return end('decided', nothing, null);
  const worked = await dispatchWave(plan, order, { ...plannerContext, account }, (view) => {
    dispatching = view;
    show('dispatching');
  });
  ruled = withAdded(ruled, worked);
  if (worked.stopped) return end('stopped', worked, null);
  const ended = endedBy(account);
  if (ended !== null) return end(ended, worked, null);
  show('deciding');
  const dispatched = await stopWhenCancelled(() => addMergeConflicts(order, worked, context));
  if (dispatched === null) return end('stopped', worked, null);
  ({ changes } = dispatched);
  show('deciding');
  const consultation = deciding(order, ruled.plan, dispatched, context);
  const decision = decisionOf(await consultPlanner(consultation, order, plannerContext), account);
  show('done');
  if (typeof decision === 'string') return end(decision, dispatched, null);
  return end('decided', dispatched, decision);
}

/** @returns null where the run does not choose its mode. */
function chooseFor(
  order: WaveOrder,
  { delegations }: WavePlanOutline,
  { superior }: WaveContext,
): ModeChoice | null {
  if (order.chooses_mode !== true) return null;
  return chooseMode(countForMode(delegations, knownAnswers(order, superior.news)));
}

type Unfinished = Exclude<WaveResult['status'], 'decided'>;

function planOf(consulted: Consulted, account: Account | null): WavePlanOutline | Unfinished {
  if (consulted.type !== 'output') return unfinished(consulted.type, account);
  return consulted.outline.shape === 'wave_plan' ? consulted.outline.plan : 'abandoned';
}

function decisionOf(
  consulted: Consulted,
  account: Account | null,
): WaveDecisionOutline | Unfinished {
  if (consulted.type !== 'output') return unfinished(consulted.type, account);
  return consulted.outline.shape === 'wave_decision' ? consulted.outline.decision : 'abandoned';
}

function unfinished(
  type: Exclude<Consulted['type'], 'output'>,
  account: Account | null,
): Unfinished {
  return type === 'denied' ? (endedBy(account) ?? 'finished') : type;
}

function resultOf(
  order: WaveOrder,
  context: WaveContext,
  status: WaveResult['status'],
  plan: WavePlanOutline | null,
  dispatched: Dispatched,
  decision: WaveDecisionOutline | null,
): Omit<WaveResult, 'budget'> {
  return {
    wave: order.wave,
    status,
    plan_ref: plan?.plan_ref ?? null,
    record_ref: plan === null ? null : order.record_ref,
    outcomes: dispatched.outcomes,
    ...definedOnly({
      merge_conflicts: dispatched.merge_conflicts,
      task_conflicts: dispatched.task_conflicts,
      changes: dispatched.changes,
    }),
    decision,
    fingerprints: dispatched.fingerprints,
    criteria: criteriaAfter(order, { plan, dispatched, decision }, context),
    usage: context.work.usage,
    news_considered: context.work.newsConsidered,
  };
}
