import {
  CancellationScope,
  condition,
  isCancellation,
  log,
  workflowInfo,
} from '@temporalio/workflow';
import type { Taint } from '../../contracts/agent-definition.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { WaveOrder } from '../../contracts/planner-wave.ts';
import type { WaveView } from '../../contracts/views.ts';
import { engineLimits } from '../../core/limits.ts';
import { metrics } from '../../core/metrics/metrics.ts';
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
import { createChildRelay, createEscalationRouter } from '../shared/child-relay.ts';
import { DelegationService } from './delegation-service.ts';
import type { DispatchContext } from './delegation-service.ts';
import { type OpenWave, letArchitectDecide } from './let-architect-decide.ts';
import { runDelegation } from './run-delegation.ts';
import { knownInputs } from './wave-context.ts';
import { outcomeUnbegun } from '../execution/execution-context.ts';
import { viewDelegations } from './wave-site.ts';
import type { WaveSite } from './wave-site.ts';
import { inBackground } from '../shared/background.ts';
import type { WavePlanOutline } from '../../contracts/wave-plan.ts';
import type { DelegationChange, MergeConflict } from '../../contracts/effect.ts';
import { recorder } from '../shared/in-span.ts';

export interface Dispatched {
  /** Plan of the wave, with the tasks that were added while it worked. Absent before the dispatch. */
  readonly plan?: WavePlanOutline;
  /** Defined in WaveResult. Absent unless a task was added, and without any. */
  readonly taint?: Taint;
  readonly outcomes: readonly DelegationOutcome[];
  readonly fingerprints: readonly string[];
  /** True when the wave was cancelled; then the outcomes are those until that moment. */
  readonly stopped: boolean;
  /** Defined in RecordedWave. */
  readonly merge_conflicts?: readonly MergeConflict[];
  /** Defined in RecordedWave. */
  readonly task_conflicts?: readonly MergeConflict[];
  /** Changes of the completed delegations. Absent when there are none. */
  readonly changes?: readonly DelegationChange[];
}

/** Part of the dispatch that people see. */
export type DispatchView = Pick<WaveView, 'delegations' | 'at_work'>;

/** A running dispatch of a wave's delegations. `core/schedule` decides; this starts, shows and remembers. */
interface Dispatching extends OpenWave {
  /** The wave's own scope: delegations belong to it, even if a handler starts them. */
  readonly scope: CancellationScope;
  readonly outcomes: Map<string, DelegationOutcome>;
  readonly started: Set<string>;
  /** Delegations to start. */
  readonly due: DelegationOutline[];
  schedule: Schedule<DelegationOutline>;
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
  const d = openDispatching({ plan, order, context }, first.schedule, onView);
  context.control.subscribe((change) => on(d, { type: change.type }));
  context.account?.whenClosed(() => on(d, { type: 'halt', reason: 'the budget is spent' }));
  startAsTheyCome(d);
  take(d, first);
  const stopped = await untilAllEnded(
    () => isScheduleDone(d.schedule) && !d.service.isReviewing(),
    () => on(d, { type: 'stop' }),
  );
  return {
    plan: d.plan,
    ...(d.taint !== undefined && { taint: d.taint }),
    outcomes: d.plan.delegations.map(
      (delegation) =>
        d.outcomes.get(delegation.delegation_id) ??
        note(d, outcomeUnbegun(delegation, 'stopped', 'stopped before it began')),
    ),
    fingerprints: [...d.started].flatMap((id) => d.byId.get(id)?.fingerprint ?? []),
    stopped,
  };
}

function openDispatching(
  given: Pick<WaveSite, 'plan' | 'order' | 'context'>,
  schedule: Schedule<DelegationOutline>,
  onView: (view: () => DispatchView) => void,
): Dispatching {
  const { plan, context } = given;
  const waveId = workflowInfo().workflowId;
  const scope = CancellationScope.current();
  const outcomes = new Map<string, DelegationOutcome>();
  const relay = createChildRelay(context.control, context.superior.news);
  const service = new DelegationService({
    ...given,
    plan: () => d.plan,
    decide: (asker, questions, onAdded) =>
      letArchitectDecide(d, asker, questions, (jobs) => {
        for (const { delegation_id } of jobs) onAdded(delegation_id);
        on(d, { type: 'add', jobs });
      }),
    waveId,
    relay,
    outcomes,
    scope,
    entries: () => d.schedule.entries,
    on: (event) => on(d, event),
    isRunning: (id) => isRunning(d.schedule, id),
  });
  const d: Dispatching = {
    ...given,
    waveId,
    scope,
    service,
    outcomes,
    byId: new Map(plan.delegations.map((delegation) => [delegation.delegation_id, delegation])),
    started: new Set(),
    due: [],
    inside: new Map(),
    children: new Set(),
    moved: new Map(),
    relay,
    escalations: createEscalationRouter(
      (reason) => context.superior.refuse(reason),
      (escalation) => service.take(escalation),
    ),
    decisions: 0,
    isAdding: false,
    taint: undefined,
    plannedAtMs: nowMs(),
    show: () => onView(() => viewOf(d)),
    schedule,
  };
  return d;
}

/** Starts delegations in the wave's own scope and span, whichever delegation or message made room for them. */
function startAsTheyCome(d: Dispatching): void {
  inBackground(async () => {
    for (;;) {
      await condition(() => d.due.length > 0);
      for (const delegation of d.due.splice(0)) void d.scope.run(() => run(d, delegation));
    }
  });
}

function on(d: Dispatching, event: ScheduleEvent<DelegationOutline>): void {
  take(d, stepSchedule(d.schedule, event, nowMs()));
}

function take(d: Dispatching, step: ScheduleStep<DelegationOutline>): void {
  d.schedule = step.schedule;
  for (const command of step.commands) obey(d, command);
  d.show();
}

function viewOf(d: Dispatching): DispatchView {
  return {
    delegations: viewDelegations(d.schedule, d, d.context.work.statuses),
    at_work: [...d.started].filter((id) => !d.outcomes.has(id)),
  };
}

function obey(d: Dispatching, command: ScheduleCommand): void {
  const delegation = d.byId.get(command.delegation_id);
  if (delegation === undefined) return;
  const { delegation_id } = delegation;
  switch (command.type) {
    case 'start':
      d.started.add(delegation_id);
      d.due.push(delegation);
      return;
    case 'resume':
      return d.service.resume(delegation_id);
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
  const outcome = await runDelegation(d, delegation);
  note(d, outcome);
  d.context.work.usage = addUsage(d.context.work.usage, outcome.usage);
  const { delegation_id, status, reason, criteria_unmet } = outcome;
  const leaves_unmet = criteria_unmet.length > 0;
  on(d, { type: 'ended', delegation_id, status, reason, leaves_unmet });
}

/** @returns true when the wave was cancelled. Then its delegations are too, and each still reports its usage. */
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
