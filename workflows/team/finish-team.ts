import { CancellationScope, isCancellation } from '@temporalio/workflow';
import type {
  RecordTeamResult,
  TaskRecord,
  TeamReport,
  TeamTerms,
} from '../../contracts/team-run.ts';
import type { AgentOutputOutline } from '../../contracts/agent-output.ts';
import type { DelegationOrder, DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { DelegationState } from '../../contracts/views.ts';
import { planExecutor, viewUnbegun, withoutWork } from '../../core/executor.ts';
import { definedOnly } from '../../core/json.ts';
import { metrics } from '../../core/metrics/metrics.ts';
import type { Entry } from '../../core/schedule/schedule.ts';
import type { TeamState, TeamTask } from '../../core/team/team-state.ts';
import { noUsage } from '../../core/usage/add-usage.ts';
import { stepSummary } from '../../core/render/labels.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import { recordTeam, saveThread } from '../shared/activities.ts';
import { nowSeconds } from '../shared/clock.ts';
import type { Superior } from '../shared/superior.ts';
import { applyGuards } from './apply-guards.ts';
import type { BlockedTeam } from './open-team.ts';
import {
  countTurns,
  knownEffects,
  loadedDetails,
  showTeam,
  usageOf,
  noteTeamEnd,
  noteTeamNotBegun,
} from './team-at-work.ts';
import type { TeamAtWork } from './team-at-work.ts';
import { outcomeOfOutput, outcomeUnbegun, outcomeWithout } from '../execution/execution-context.ts';
import { readFailure, callUntilDone, stopWhenCancelled } from '../shared/failures.ts';
import { listUpstream } from '../../core/workspace/run-changes.ts';
import { boundReport, boundTeam } from '../../core/team/team-state.ts';
import { recorder } from '../shared/in-span.ts';

/** End of the team's work. */
export interface TeamEnd extends Pick<TeamReport, 'status' | 'reason'> {
  /** Output of the leader; null when it gave none. */
  readonly output: AgentOutputOutline | null;
}

/** A team that could not begin, or was stopped before it did. Nothing was bought. */
export function neverBegan(
  context: ExecutionContext,
  { status, reason }: Pick<DelegationOutcome, 'status' | 'reason'>,
): DelegationOutcome {
  noteTeamNotBegun();
  showUnopened(context, status, reason);
  return outcomeUnbegun(context.order.delegation, status, reason);
}

/** Records the guardrail or middleware that blocked the message, and its reason. Nothing was spent. */
export async function finishBlocked(
  context: ExecutionContext,
  { setup, reason, notes }: BlockedTeam,
  superior: Superior,
): Promise<DelegationOutcome> {
  const report = boundReport({
    version: 1,
    setup,
    plan_ref: context.order.plan_ref,
    status: 'blocked',
    reason,
    tasks: [],
    refused: [],
    leader: { turns: 0, usage: noUsage },
    notes,
    output_ref: null,
  });
  const { report_ref } = await CancellationScope.nonCancellable(() =>
    keepReport(context.order, superior, report),
  );
  const outcome = neverBegan(context, { status: 'failed', reason });
  return { ...outcome, executor: { kind: 'team', work: boundTeam(report, report_ref) } };
}

/** Shows a team that has not begun. @param waiting_for The question that it waits for, or why it never began. */
export function showUnopened(
  { order, onStatus }: ExecutionContext,
  state: DelegationState,
  waiting_for: string,
): void {
  const { delegation_id, agent_id, title, executor } = order.delegation;
  onStatus({
    delegation_id,
    agent_id,
    title,
    state,
    turn: 0,
    waiting_for,
    usage: noUsage,
    executor: viewUnbegun(planExecutor(executor)),
  });
}

/** Sends the answer through the output functions, records everything, and adds to the thread. */
export async function finishTeam(t: TeamAtWork, ended: TeamEnd): Promise<DelegationOutcome> {
  const end = (await stopWhenCancelled(() => guardOutput(t, ended))) ?? {
    status: 'stopped',
    reason: 'stopped while its answer was checked',
    // An unchecked answer is not passed on.
    output: null,
  };
  if (isWithheld(t, end)) t.notes.push(withheld);
  // The members' results are recorded, however the team was stopped.
  const report = reportOf(t, end);
  const recorded = await CancellationScope.nonCancellable(() =>
    keepReport(t.context.order, t.own.superior, report),
  );
  await CancellationScope.nonCancellable(() =>
    keepThread(
      t.context.order,
      { ...t.state.setup, message_ref: t.message_ref },
      { ...recorded, output_ref: end.output === null ? null : recorded.output_ref },
      (text) => void t.notes.push(text),
    ),
  );
  noteTeamEnd(report);
  const outcome = outcomeOf(t, end, report, recorded);
  if (outcome.status === 'failed') noteFailure(t, end);
  showTeam(t, { state: outcome.status, reason: outcome.reason });
  return outcome;
}

const withheld =
  'What members brought is not handed on in place of an answer: no guardrail for the output has judged it.';

/** Returns true when `recordTeam` withholds the members' results. */
function isWithheld({ state, records }: TeamAtWork, { status, output }: TeamEnd): boolean {
  const isGuarded = state.setup.guardrails.output.length > 0;
  return isGuarded && output === null && status !== 'blocked' && records.size > 0;
}

async function guardOutput(t: TeamAtWork, end: TeamEnd): Promise<TeamEnd> {
  const { output } = end;
  if (output === null) return end;
  const guarded = await applyGuards(t.state.setup, 'output', output.output_ref, {
    order: t.context.order,
    superior: t.own.superior,
    budget: t.own.budget,
    note: (text) => void t.notes.push(text),
  });
  if (guarded.type === 'blocked')
    return { status: 'blocked', reason: guarded.reason, output: null };
  return { ...end, output: { ...output, output_ref: guarded.subject_ref } };
}

function keepReport(
  { run_id, record_ref, delegation, upstream }: DelegationOrder,
  superior: Superior,
  report: TeamReport,
): Promise<RecordTeamResult> {
  const { delegation_id } = delegation;
  return callUntilDone(superior, recordTeam, stepSummary(delegation_id, 'record the team'), {
    run_id,
    delegation_id,
    report,
    ...(report.tasks.length > 0 && { builds: { record_ref, on: listUpstream(upstream) } }),
  });
}

function reportOf(t: TeamAtWork, { status, reason, output }: TeamEnd): TeamReport {
  const { setup, tasks, refused } = t.state;
  const { calls: turns, usage } = t.own.conversation;
  return boundReport({
    version: 1,
    setup,
    plan_ref: t.context.order.plan_ref,
    status,
    reason,
    tasks: tasks.entries.map(
      (task) =>
        t.records.get(task.delegation_id) ??
        recordOfSkipped(t.state, task, t.context.order.plan_ref),
    ),
    refused,
    leader: { turns, usage },
    notes: t.notes,
    output_ref: output?.output_ref ?? null,
  });
}

/** @param plan_ref Of the plan that holds it, or would have. */
export function recordOfSkipped(
  { setup }: TeamState,
  task: Entry<TeamTask>,
  plan_ref: Ref,
): TaskRecord {
  const { delegation_id, member_id, title, inputs, reason } = task;
  const seat = setup.members.find((one) => one.member_id === member_id);
  return {
    delegation_id,
    member_id,
    title,
    plan_ref,
    inputs,
    status: 'skipped',
    reason,
    attempts: 0,
    output_ref: null,
    partial_ref: null,
    turns: 0,
    usage: noUsage,
    worked_ms: 0,
    executor: withoutWork(seat?.executor.kind ?? 'agent'),
  };
}

/**
 * Adds to the thread, or replaces what the same delegation has added. A thread that can't be written never fails a team
 * (case 11.2).
 */
export async function keepThread(
  { run_id, delegation }: DelegationOrder,
  { thread_id, user_id, message_ref }: Pick<TeamTerms, 'thread_id' | 'user_id' | 'message_ref'>,
  { report_ref, output_ref }: RecordTeamResult,
  note: (text: string) => void,
): Promise<void> {
  if (thread_id === null) return;
  const { delegation_id } = delegation;
  try {
    await saveThread.executeWithOptions(
      { summary: stepSummary(delegation_id, 'add to the thread') },
      [
        {
          thread_id,
          user_id,
          run_id,
          delegation_id,
          message_ref,
          report_ref,
          output_ref,
          now: nowSeconds(),
        },
      ],
    );
  } catch (error) {
    if (isCancellation(error)) throw error;
    note(`The thread was not added to: ${readFailure(error).message}`);
  }
}

function outcomeOf(
  t: TeamAtWork,
  { status, reason, output }: TeamEnd,
  report: TeamReport,
  { report_ref, output_ref, unanswered }: RecordTeamResult,
): DelegationOutcome {
  const { delegation } = t.context.order;
  const work = {
    loaded_details: loadedDetails(t),
    turns: countTurns(t),
    usage: usageOf(t),
    effects: knownEffects(t),
  };
  // With what the thread had to say since.
  const executor = {
    kind: 'team',
    work: {
      ...boundTeam({ ...report, notes: t.notes }, report_ref),
      ...definedOnly({ unanswered }),
    },
  } as const;
  if (output !== null && output_ref !== null) {
    return { ...outcomeOfOutput(delegation, work, { ...output, output_ref }), executor };
  }
  const ended = status === 'stopped' ? ('stopped' as const) : ('failed' as const);
  const outcome = outcomeWithout(delegation, work, { status: ended, reason });
  return { ...outcome, output_ref, executor };
}

/** Counts the leader's own failures; those of rules and provider are counted where they happen. */
function noteFailure(t: TeamAtWork, { status, output }: TeamEnd): void {
  const agent = t.state.setup.leader;
  if (output?.status === 'failed')
    recorder.count(metrics.failures, { agent, reason: 'agent_failed' });
  if (status === 'timed_out') recorder.count(metrics.failures, { agent, reason: 'timed_out' });
}
