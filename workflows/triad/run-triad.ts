import {
  CancellationScope,
  ApplicationFailure,
  isCancellation,
  startChild,
} from '@temporalio/workflow';
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import { triadPhases, workflowTypes } from '../../contracts/names.ts';
import type { DelegationState, TriadPhaseView } from '../../contracts/views.ts';
import type { Ref } from '../../contracts/ref.ts';
import { phaseWorkflowId } from '../../core/ids.ts';
import { openSpec } from '../../core/spec/read-spec.ts';
import { mayRetry } from '../../core/triad/end-phase.ts';
import { resolveTriad, viewBegun, viewPhase } from '../../core/triad/phase-state.ts';
import { listNegotiators } from '../../core/triad/roles.ts';
import type { FailureReason } from '../../core/turns/turns-state.ts';
import { addUsage, noUsage } from '../../core/usage/add-usage.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import { buildTriadOutcome, countCalls, keepReport } from './build-triad-outcome.ts';
import type { TriadWork, KeptReport } from './build-triad-outcome.ts';
import { shareSuperior } from '../shared/share-superior.ts';
import type { SharedSuperior } from '../shared/share-superior.ts';
import { relayEscalations } from '../shared/child-relay.ts';
import type { ChildEscalations } from '../shared/child-relay.ts';
import { phaseSummary } from '../../core/render/labels.ts';
import { lastNewsId } from '../../core/run/news.ts';
import { childOptions } from '../shared/visibility.ts';
import { stopWhenCancelled, readFailure } from '../shared/failures.ts';
import type { TriadOutline, TriadPhase } from '../../contracts/triad.ts';
import type {
  CarriedWork,
  PhaseBeginning,
  PhaseResult,
  PhaseOrder,
  TriadPhaseArgs,
} from './member-at-work.ts';

interface TriadAtWork extends TriadWork {
  readonly context: ExecutionContext;
  readonly shared: SharedSuperior;
  readonly relay: ChildEscalations;
  /** Reports of the attempts at phases, in order. Written beside the work. */
  readonly reports: Promise<KeptReport>[];
  carried: CarriedWork;
  usage: TriadWork['usage'];
  state: TriadWork['state'];
  /** View of the phase that began or ended last. */
  view: TriadPhaseView | null;
  /** Workflow id of the running phase, whose use is counted at its end. */
  phaseId: string | null;
}

/**
 * Has three members do a delegation in three phases (seed 000): each is a child workflow, and gets the summary of the
 * one before it and nothing else. A member's failure comes back with all that was recorded; whether the phase is
 * retried is decided here.
 */
export async function runTriad(
  triad: TriadOutline,
  context: ExecutionContext,
): Promise<DelegationOutcome> {
  const t = openTriad(triad, context);
  show(t, 'running');
  const last = await runPhases(t);
  const reports = await CancellationScope.nonCancellable(() => Promise.all(t.reports));
  const outcome = buildTriadOutcome(t, last, reports);
  show(t, outcome.status, outcome.reason);
  context.onEnd?.({
    why: whyFailed(last),
    // An output of the outcome says the same.
    partial_ref:
      outcome.output_ref === null && last?.status !== 'done' ? lastPartial(reports) : null,
    effects: t.carried.effects,
    escalations: t.shared.escalations(),
  });
  return outcome;
}

/** Returns the text that the newest phase that came to anything has left, in a history without `unfinished_ref`. */
function lastPartial(reports: readonly KeptReport[]): Ref | null {
  return reports.findLast((one) => one.partial_ref !== undefined)?.partial_ref ?? null;
}

function whyFailed(last: PhaseResult | null): FailureReason | null {
  const isGivenUp = last?.status === 'done' && last.state.output?.status === 'failed';
  return isGivenUp ? 'agent_failed' : (last?.failed?.why ?? null);
}

function openTriad(triad: TriadOutline, context: ExecutionContext): TriadAtWork {
  const { order } = context;
  const shared = shareSuperior(context.superior, order, 0);
  const t: TriadAtWork = {
    shared,
    order,
    triad,
    context,
    // Above the delegation its phases are unknown.
    relay: relayEscalations({
      ...context,
      superior: shared.forMember((question) => {
        show(t, question === '' ? 'running' : 'waiting', question);
      }),
    }),
    reports: [],
    carried: { budget: context.budget.carry(), calls: {}, loaded_details: [], effects: [] },
    usage: noUsage,
    state: null,
    view: null,
    phaseId: null,
  };
  return t;
}

/** @returns the end of the last attempt at a phase; null when the triad was stopped before its first. */
async function runPhases(t: TriadAtWork): Promise<PhaseResult | null> {
  const setup = resolveTriad(t.triad);
  let begin: PhaseBeginning = {
    type: 'open',
    spec: openSpec(setup.section_ids, listNegotiators(setup.members)),
    summary_ref: null,
  };
  let last: PhaseResult | null = null;
  for (const phase of triadPhases) {
    // Each phase builds on the one before.
    // oxlint-disable-next-line no-await-in-loop
    const result = await runAttempts(t, phase, begin);
    last = result ?? last;
    if (result === null || result.status !== 'done')
      return result ?? (last && { ...last, status: 'stopped' });
    const { spec, summary } = result.state;
    begin = { type: 'open', spec, summary_ref: summary?.summary_ref ?? null };
  }
  return last;
}

/** @returns the end of the last attempt at the phase; null when it was stopped before it began. */
async function runAttempts(
  t: TriadAtWork,
  phase: TriadPhase,
  first: PhaseBeginning,
): Promise<PhaseResult | null> {
  let begin = first;
  for (let attempt = 1; ; attempt += 1) {
    // oxlint-disable-next-line no-await-in-loop
    const result = await stopWhenCancelled(() => runAttempt(t, phase, begin, attempt));
    if (result === null) return null;
    takeResult(t, result, attempt);
    const { failed, kept } = result;
    const isWorthIt = failed !== null && mayRetry(failed.why, attempt, result.carried.effects);
    if (!isWorthIt || kept === null) return result;
    begin = { type: 'resume', state: result.state, members: kept };
  }
}

async function runAttempt(
  t: TriadAtWork,
  phase: TriadPhase,
  begin: PhaseBeginning,
  attempt: number,
): Promise<PhaseResult> {
  const { order, triad, context, carried, relay } = t;
  await context.control.ready();
  const { spec } = begin.type === 'open' ? begin : begin.state;
  t.view = viewBegun(resolveTriad(triad), phase, spec);
  t.phaseId = phaseWorkflowId(context.place, phase, attempt);
  show(t, 'running');
  try {
    return await runPhaseChild({ order, triad, phase, begin, carried }, t.phaseId, relay);
  } finally {
    t.phaseId = null;
    show(t, 'running');
  }
}

function takeResult(t: TriadAtWork, result: PhaseResult, attempt: number): void {
  t.carried = result.carried;
  t.context.budget.takeBack(result.carried.budget);
  t.context.superior.know(result.carried.effects);
  // Its calls are made in another workflow.
  t.context.superior.news.hear(result.heard ?? 0);
  t.usage = addUsage(t.usage, result.usage);
  t.state = result.state;
  t.view = { ...viewPhase(result.state, result.status), at_work: [] };
  t.reports.push(keepReport(t.order, result, attempt, t.context.superior));
  show(t, 'running');
}

function show(t: TriadAtWork, state: DelegationState, waitingFor = ''): void {
  const { delegation_id, agent_id, title } = t.order.delegation;
  t.context.onStatus({
    delegation_id,
    agent_id,
    title,
    state,
    turn: countCalls(t.carried),
    waiting_for: waitingFor,
    usage: t.usage,
    ...(t.phaseId !== null && { phases_at_work: [t.phaseId] }),
    executor: { kind: 'triad', type: t.triad.type, view: t.view },
  });
}

/**
 * Starts a phase as a workflow of its own and waits for its end.
 *
 * @param workflowId Id of the phase.
 * @throws when the phase was terminated: its use is unknown, so its delegation is lost with it.
 */
async function runPhaseChild(
  order: PhaseOrder,
  workflowId: string,
  relay: ChildEscalations,
): Promise<PhaseResult> {
  const { phase, triad } = order;
  const { run_id, delegation } = order.order;
  relay.expect(workflowId);
  const news = relay.news();
  try {
    const child = await startChild<(args: TriadPhaseArgs) => Promise<PhaseResult>>(
      workflowTypes.triadPhase,
      {
        workflowId,
        args: [{ order: { ...order, order: { ...order.order, news } } }],
        ...childOptions(run_id, phaseSummary(triad.type, phase, delegation.title)),
      },
    );
    relay.began(workflowId, lastNewsId(news));
    return await child.result();
  } catch (error) {
    if (isCancellation(error)) throw error;
    relay.lost(workflowId);
    throw ApplicationFailure.nonRetryable(`Phase ${phase} was lost: ${readFailure(error).message}`);
  } finally {
    relay.ended(workflowId);
  }
}
