import { isCancellation, startChild, CancellationScope, condition } from '@temporalio/workflow';
import type {
  ArchitectureDesignArgs,
  DesignOrder,
  DesignRequest,
  DesignResult,
  PlanOutline,
} from '../../contracts/design-run.ts';
import { workflowTypes } from '../../contracts/names.ts';
import type { RunStatus } from '../../contracts/planner-run.ts';
import type { WaveOrder } from '../../contracts/planner-wave.ts';
import { definedOnly } from '../../core/json.ts';
import { carryLostWave, reserveForWave } from '../../core/budget/resolve-budget.ts';
import { applyPlan } from '../../core/criteria/criteria.ts';
import { findArchitect } from '../../core/design/architect-task.ts';
import { designWorkflowId } from '../../core/ids.ts';
import { admitPlan, planNextWave } from '../shared/activities.ts';
import { nowMs } from '../shared/clock.ts';
import type { RootHost } from '../shared/root-host.ts';
import { describeBudget, knownSpent, openDesign } from '../shared/root-state.ts';
import { askUser, designLostQuestion } from './run-questions.ts';
import { childOptions } from '../shared/visibility.ts';
import { endDesign } from '../design/run-design.ts';
import type { DesignEnd } from '../design/run-design.ts';
import { readFailure, callUntilDone } from '../shared/failures.ts';
import { recallLostPart } from '../shared/settle-run.ts';
import type { ModeChoice } from '../../contracts/limits.ts';

/**
 * Makes the design of a run that asked for one, before its first wave, or takes the plan of the input.
 *
 * @returns the status of a run that ends with its design; null when it goes on; `full` when the execution is, and the
 *   design goes on in the next one.
 */
export async function designFirst(host: RootHost): Promise<RunStatus | 'full' | null> {
  const { state } = host;
  const request = state.opened?.design;
  if (request === undefined || state.plan_approved !== null) return null;
  if (request.plan !== null) return takePlan(host, request.plan);
  if (modeOf(host, request) === 'direct') return null;
  for (;;) {
    // One attempt after the other.
    // oxlint-disable-next-line no-await-in-loop
    const result = await runDesignChild(host, request);
    if (result === null) return 'full';
    if (!('lost' in result)) return takeDesign(host, result);
    const question = designLostQuestion(result.lost, describeBudget(state));
    // oxlint-disable-next-line no-await-in-loop
    const answer = await askUser(host, 'planner_stuck', question);
    if (answer?.answer !== 'retry') return 'abandoned';
  }
}

/** Returns `direct` for a run that has not chosen yet: its first plan decides. */
function modeOf({ state }: RootHost, { mode }: DesignRequest): ModeChoice['mode'] {
  return mode === 'auto' ? (state.mode?.mode ?? 'direct') : mode;
}

async function takeDesign(host: RootHost, result: DesignResult): Promise<RunStatus | null> {
  endDesign(host, result);
  const { status, plan } = result;
  if (status === 'approved' && plan !== null) return takePlan(host, plan);
  return status === 'approved' || status === 'finished' ? 'finished_unmet' : status;
}

/** Takes over an approved plan: its new agents, and its evidence as the criteria of the run. */
export async function takePlan(host: RootHost, plan: PlanOutline): Promise<null> {
  const { state } = host;
  const { opened } = state;
  if (opened === null) throw new Error('A plan was taken before the run was opened.');
  const { plan_ref } = plan;
  const { max_delegations } = opened.limits;
  const { registry_ref, agents, criterion_ids, waves } = await callUntilDone(
    host,
    admitPlan,
    'take over the approved plan',
    { plan_ref, registry_ref: opened.registry_ref, max_delegations },
  );
  state.opened = { ...opened, registry_ref, agents };
  state.criteria = applyPlan(state.criteria, [{ criterion_ids }]);
  // The limit is for waves that the user did not see in the plan.
  state.waves_allowed = Math.max(state.waves_allowed, state.wave + waves);
  state.plan_approved = plan;
  host.refresh();
  return null;
}

/** @returns null when the execution is full: what the design has finished is in the state. */
async function runDesignChild(
  host: RootHost,
  request: DesignRequest,
): Promise<DesignResult | { readonly lost: string } | null> {
  if (host.isFull()) return null;
  const { state, record } = host;
  const { opened } = state;
  if (opened === null) throw new Error('A design was ordered before the run was opened.');
  const told = state.news.last;
  const record_ref = await record.flush();
  const budget = reserveForWave(state.budget, state.usage);
  const workflowId = designWorkflowId(host.runId);
  const design = state.design ?? openDesign();
  state.design = design;
  const own = { from: workflowId, delegation_id: null, is_over: true };
  // After a reset, the questions of the old design come in again; their answers are not needed.
  host.inbox.withdraw(own);
  const beganAtMs = nowMs();
  const order: DesignOrder = {
    run_id: host.runId,
    registry_ref: opened.registry_ref,
    record_ref,
    agents: opened.agents,
    limits: opened.limits,
    budget,
    ...(budget !== null && { spent: knownSpent(state) }),
    amendments: state.amendments,
    news: host.news.since(told),
    auto_approve: request.auto_approve,
    research_max_age_days: request.research_max_age_days,
    // The same for all attempts, also after a reset.
    designed_at: state.started_at,
    ...(state.first_plan_ref !== null && { first_plan_ref: state.first_plan_ref }),
    ...(design.materials.length > 0 && {
      finished: { materials: design.materials, plan_refs: design.plan_refs },
    }),
  };
  try {
    const result = await untilFull(host, () => designChild(host, order, told));
    if (!isEndedEarly(host, result)) {
      host.inbox.endRepeatedWork();
      return result;
    }
    host.inbox.withdraw({ ...own, is_repeated: true });
    endAttempt(host, result);
    return null;
  } catch (error) {
    if (isCancellation(error)) {
      if (!mayGoOn(host)) throw error;
      host.inbox.withdraw({ ...own, is_repeated: true });
      return null;
    }
    host.inbox.withdraw(own);
    const passedMs = nowMs() - beganAtMs;
    const usage = await recallLostPart(host);
    const topUps = host.topUps.take(workflowId);
    endAttempt(host, { usage, budget: carryLostWave(budget, passedMs, topUps) });
    return { lost: readFailure(error).message };
  } finally {
    host.relay.dismiss(workflowId);
  }
}

/** @param told The newest news before the record was written. */
async function designChild(
  host: RootHost,
  order: DesignOrder,
  told: number,
): Promise<DesignResult> {
  const workflowId = designWorkflowId(host.runId);
  const child = await startChild<(args: ArchitectureDesignArgs) => Promise<DesignResult>>(
    workflowTypes.architectureDesign,
    {
      workflowId,
      args: [{ order }],
      ...childOptions(host.runId, `design of ${host.state.goal_title}`),
    },
  );
  host.relay.welcome(workflowId, told);
  return child.result();
}

/** Charges and records an attempt that another one follows. */
function endAttempt(host: RootHost, { usage, budget }: Pick<DesignEnd, 'usage' | 'budget'>): void {
  endDesign(host, { status: 'designing', findings: [], approved_by: null, usage, budget });
}

/** Adds the next wave of the approved plan to an order. Without one that can start, the planner plans the wave. */
export async function addPlan(host: RootHost, order: WaveOrder): Promise<WaveOrder> {
  const { plan_approved, again } = host.state;
  if (plan_approved === null) return order;
  const { record_ref, delegation_ids, known_inputs, limits } = order;
  const { plan, max_parallel, sessions } = await callUntilDone(
    host,
    planNextWave,
    'next wave of the approved plan',
    {
      plan_ref: plan_approved.plan_ref,
      record_ref,
      max_delegations: limits.max_delegations,
      delegation_ids,
      ...(again.length > 0 && { again }),
      known_inputs,
    },
  );
  if (plan === null) {
    const verifiers = plan_approved.agents.filter(({ role }) => role === 'verifier');
    const triads = verifiers.flatMap(({ agent_id, triad }) =>
      triad === undefined ? [] : [[agent_id, triad] as const],
    );
    return {
      ...order,
      verifiers: verifiers.map(({ agent_id }) => agent_id),
      ...(triads.length > 0 && { verifier_triads: Object.fromEntries(triads) }),
    };
  }
  const parallel = Math.min(limits.max_parallel, max_parallel);
  const architect = findArchitect(plan_approved);
  return {
    ...order,
    plan,
    ...definedOnly({ sessions }),
    ...(architect !== null && { architect }),
    limits: { ...limits, max_parallel: parallel },
  };
}

/** Returns true when the run itself ended the wave or design early, and nobody stopped the run. */
export function isEndedEarly(host: RootHost, { status }: { readonly status: string }): boolean {
  return status === 'stopped' && mayGoOn(host);
}

/** Returns true when a cancellation was the run's own. */
export function mayGoOn(host: RootHost): boolean {
  return host.isFull() && !CancellationScope.current().consideredCancelled;
}

/** Does the work of a wave or a design, and cancels it when this execution is full. */
export async function untilFull<T>(host: RootHost, work: () => Promise<T>): Promise<T> {
  const working = new CancellationScope();
  const waiting = new CancellationScope();
  const done = working.run(work);
  const isOver = done.then(
    () => false,
    () => false,
  );
  // It is cancelled with the run, too.
  const full = waiting
    .run(() => condition(() => host.isFull()))
    .then(
      () => true,
      () => false,
    );
  if (await Promise.race([isOver, full])) working.cancel();
  else waiting.cancel();
  return done;
}
