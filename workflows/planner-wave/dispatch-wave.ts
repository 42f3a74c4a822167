import {
  CancellationScope,
  condition,
  getExternalWorkflowHandle,
  isCancellation,
  log,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import type { ExternalWorkflowHandle } from '@temporalio/workflow';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { Delivery, LeaseEscalation, QuestionsEscalation } from '../../contracts/messages.ts';
import type { WaveOrder } from '../../contracts/planner-wave.ts';
import type { WaveView } from '../../contracts/views.ts';
import type { WavePlanOutline } from '../../contracts/wave-plan.ts';
import { delegationWorkflowId } from '../../core/ids.ts';
import { engineLimits } from '../../core/limits.ts';
import { metrics } from '../../core/metrics/metrics.ts';
import { checkEscalation } from '../../core/run/check-control.ts';
import { isRunning, isScheduleDone } from '../../core/schedule/schedule.ts';
import type { Schedule } from '../../core/schedule/schedule.ts';
import { openSchedule, stepSchedule } from '../../core/schedule/step-schedule.ts';
import type {
  ScheduleCommand,
  ScheduleEvent,
  ScheduleStep,
} from '../../core/schedule/step-schedule.ts';
import { addUsage } from '../../core/usage/add-usage.ts';
import { nowMs } from '../shared/clock.ts';
import { createChildRelay } from '../shared/child-relay.ts';
import { inBackground } from '../shared/in-background.ts';
import { deliverSignal, escalateSignal, grantSignal } from '../shared/messages.ts';
import { recorder } from '../shared/recorder.ts';
import { signalQuietly } from '../shared/signal-quietly.ts';
import { badEscalation } from '../shared/superior.ts';
import { outcomeUnbegun } from '../execution/build-outcome.ts';
import { putQuestions } from './put-questions.ts';
import type { Reviewed } from './put-questions.ts';
import { runChild } from './run-child.ts';
import type { DispatchContext, WaveSite } from './run-child.ts';
import { knownInputs } from './wave-context.ts';
import { viewDelegations } from './view-delegations.ts';

export interface Dispatched {
  readonly outcomes: readonly DelegationOutcome[];
  readonly fingerprints: readonly string[];
  /** True when the wave was cancelled; then the outcomes are those until that moment. */
  readonly stopped: boolean;
}

/** Part of the dispatch that people see. */
export type DispatchView = Pick<WaveView, 'delegations' | 'at_work'>;

/** A running dispatch of a wave's delegations. `core/schedule` decides; this starts, signals and remembers. */
interface Dispatching extends WaveSite {
  /** The wave's own scope: children belong to it, even if a handler starts them. */
  readonly scope: CancellationScope;
  readonly outcomes: Map<string, DelegationOutcome>;
  readonly started: Set<string>;
  /**
   * Answers that wait until their delegation has a slot again: several members of a team or a triad may ask at the same
   * time.
   */
  readonly deliveries: Map<string, Delivery[]>;
  readonly onView: (view: () => DispatchView) => void;
  schedule: Schedule<DelegationOutline>;
  /** Number of running reviews: the wave ends only after their cost is counted. */
  reviews: number;
  lastReview: Promise<unknown>;
}

/**
 * Starts each delegation as soon as its own dependencies are met, and handles each result as it arrives. A delegation
 * with questions gives its slot to others until the answers arrive.
 */
export async function dispatchWave(
  plan: WavePlanOutline,
  order: WaveOrder,
  context: DispatchContext,
  onView: (view: () => DispatchView) => void,
): Promise<Dispatched> {
  const rules = {
    known_inputs: knownInputs(order, context.superior.news),
    max_parallel: order.limits.max_parallel,
    same_failures_max: engineLimits.sameFailureMax,
    paused: context.control.pausedReason() !== null || context.control.parkedReason() !== null,
  };
  const first = openSchedule(plan.delegations, rules, nowMs());
  const d: Dispatching = {
    plan,
    order,
    context,
    waveId: workflowInfo().workflowId,
    scope: CancellationScope.current(),
    byId: new Map(plan.delegations.map((delegation) => [delegation.delegation_id, delegation])),
    outcomes: new Map(),
    started: new Set(),
    deliveries: new Map(),
    relay: createChildRelay(context.control, context.superior.news),
    plannedAtMs: nowMs(),
    onView,
    schedule: first.schedule,
    reviews: 0,
    lastReview: Promise.resolve(),
  };
  setHandler(escalateSignal, (payload) => takeEscalation(d, payload), {
    description: 'From a delegation: a question or a fault. Not for people.',
  });
  context.control.subscribe((change) => on(d, { type: change.type }));
  context.treasury?.whenClosed(() => on(d, { type: 'halt', reason: 'the budget is spent' }));
  take(d, first);
  const stopped = await untilAllEnded(
    () => isScheduleDone(d.schedule) && d.reviews === 0,
    () => on(d, { type: 'stop' }),
  );
  return {
    outcomes: plan.delegations.map(
      (delegation) =>
        d.outcomes.get(delegation.delegation_id) ??
        note(d, outcomeUnbegun(delegation, 'stopped', 'stopped before it began')),
    ),
    fingerprints: [...d.started].flatMap((id) => d.byId.get(id)?.fingerprint ?? []),
    stopped,
  };
}

function on(d: Dispatching, event: ScheduleEvent<DelegationOutline>): void {
  take(d, stepSchedule(d.schedule, event, nowMs()));
}

function take(d: Dispatching, step: ScheduleStep<DelegationOutline>): void {
  d.schedule = step.schedule;
  for (const command of step.commands) obey(d, command);
  d.onView(() => ({
    delegations: viewDelegations(d.schedule, d.waveId),
    at_work: childrenAtWork(d),
  }));
}

function obey(d: Dispatching, command: ScheduleCommand): void {
  const delegation = d.byId.get(command.delegation_id);
  if (delegation === undefined) return;
  const { delegation_id } = delegation;
  switch (command.type) {
    case 'start':
      d.started.add(delegation_id);
      void d.scope.run(() => run(d, delegation));
      return;
    case 'resume': {
      return deliver(d, delegation_id);
    }
    case 'skip':
      note(d, outcomeUnbegun(delegation, 'skipped', command.reason));
      return;
  }
}

function note(d: Dispatching, outcome: DelegationOutcome): DelegationOutcome {
  const { delegation_id, agent_id, status } = outcome;
  d.outcomes.set(delegation_id, outcome);
  recorder.count(metrics.delegations, { agent: agent_id, status });
  log.info('delegation ended', { delegation: delegation_id, agent: agent_id, status });
  return outcome;
}

async function run(d: Dispatching, delegation: DelegationOutline): Promise<void> {
  const outcome = await runChild(d, delegation);
  note(d, outcome);
  d.context.work.usage = addUsage(d.context.work.usage, outcome.usage);
  const { delegation_id, status, reason, criteria_unmet } = outcome;
  const leaves_unmet = criteria_unmet.length > 0;
  on(d, { type: 'ended', delegation_id, status, reason, leaves_unmet });
}

function takeEscalation(d: Dispatching, payload: unknown): void {
  const escalation = checkEscalation(payload);
  if (escalation === null) {
    d.context.superior.refuse(badEscalation);
    return;
  }
  if (escalation.type === 'parked') {
    inBackground(() => d.context.superior.park(escalation.reason));
    return;
  }
  // Reported here only when the wave was started by hand and is the topmost workflow.
  if (escalation.type === 'effect') {
    inBackground(() => d.context.superior.report(escalation.effect));
    return;
  }
  const { delegation_id } = escalation;
  if (escalation.type === 'lease') {
    inBackground(() => lease(d, escalation));
    return;
  }
  if (escalation.type !== 'questions' || delegation_id === null) {
    d.context.superior.refuse(badEscalation);
    return;
  }
  inBackground(() => passOn(d, escalation, delegation_id));
}

async function lease(d: Dispatching, wish: LeaseEscalation): Promise<void> {
  const { treasury } = d.context;
  if (treasury === null) return d.context.superior.refuse(badEscalation);
  const { request_id, delegation_id } = wish;
  const grant = await treasury.request(delegation_id, wish);
  tell(d, delegation_id, (child) => child.signal(grantSignal, { request_id, ...grant }));
}

async function passOn(
  d: Dispatching,
  escalation: QuestionsEscalation,
  delegationId: string,
): Promise<void> {
  if (escalation.spent !== undefined) d.context.treasury?.release(delegationId, escalation.spent);
  on(d, { type: 'asked', delegation_id: delegationId });
  const answers = await putQuestions({ ...escalation, from: d.waveId }, d.context, {
    order: d.order,
    plan_ref: d.plan.plan_ref,
    outputs: [...d.outcomes.values()].flatMap(({ delegation_id, output_ref }) =>
      output_ref === null ? [] : [{ delegation_id, output_ref }],
    ),
    isGone: () => d.outcomes.has(delegationId),
    review: (work) => review(d, work),
  });
  if (answers === null) return;
  const { escalation_id } = escalation;
  const waiting = d.deliveries.get(delegationId) ?? [];
  d.deliveries.set(delegationId, [...waiting, { escalation_id, answers }]);
  on(d, { type: 'answered', delegation_id: delegationId });
  // Other members may have got their answers, and the delegation its slot, already.
  if (isRunning(d.schedule, delegationId)) deliver(d, delegationId);
}

function deliver(d: Dispatching, delegationId: string): void {
  const deliveries = d.deliveries.get(delegationId) ?? [];
  d.deliveries.delete(delegationId);
  for (const delivery of deliveries) {
    tell(d, delegationId, (child) => child.signal(deliverSignal, delivery));
  }
}

/**
 * Runs one review after the other, because they share the planner's budget. The calls belong to the wave, so `stop`
 * cancels them even if a handler began them. When the budget is spent, the rest is left to the decision on the wave.
 */
async function review(d: Dispatching, work: () => Promise<Reviewed>): Promise<Reviewed> {
  const verdict = d.context.treasury?.verdict() ?? 'open';
  if (verdict !== 'open') return { type: 'denied', reason: 'the budget is spent' };
  d.reviews += 1;
  const turn = d.lastReview;
  const task = (async () => {
    await turn;
    try {
      return await d.scope.run(work);
    } finally {
      d.reviews -= 1;
    }
  })();
  d.lastReview = task.catch(() => null);
  return task;
}

function tell(
  d: Dispatching,
  delegationId: string,
  send: (child: ExternalWorkflowHandle) => Promise<void>,
): void {
  const child = getExternalWorkflowHandle(delegationWorkflowId(d.waveId, delegationId));
  inBackground(() => signalQuietly(() => send(child)));
}

/** Returns the workflow ids of running children. */
function childrenAtWork(d: Dispatching): string[] {
  return [...d.started]
    .filter((id) => !d.outcomes.has(id))
    .map((id) => delegationWorkflowId(d.waveId, id));
}

/** @returns true when the wave was cancelled. Then its children are too, and each still reports its usage. */
async function untilAllEnded(done: () => boolean, stop: () => void): Promise<boolean> {
  try {
    await condition(done);
    return false;
  } catch (error) {
    if (!isCancellation(error)) throw error;
    stop();
    await CancellationScope.nonCancellable(() => condition(done));
    return true;
  }
}
