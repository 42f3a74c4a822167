import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type {
  DelegationOrder,
  DelegationOutcome,
  UpstreamOutput,
} from '../../contracts/delegation-run.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { TaskRecord, TaskStatus, TeamSeat } from '../../contracts/team-run.ts';
import type { DelegationStatusView } from '../../contracts/views.ts';
import { decideRetry } from '../../core/schedule/failures.ts';
import { executorOf } from '../../core/team/team-state.ts';
import type { TeamTask } from '../../core/team/team-state.ts';
import { withoutWork } from '../../core/executor.ts';
import { isEffectOf, namePath, taskPlace } from '../../core/ids.ts';
import { addUsage, lostUsage, noUsage } from '../../core/usage/add-usage.ts';
import type { FailureReason } from '../../core/turns/turns-state.ts';
import { stepSummary } from '../../core/render/labels.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import { inSpan, agentSpan, workEnd } from '../shared/in-span.ts';
import type { SpanStart } from '../shared/in-span.ts';
import type { MemberBudget } from '../shared/share-budget.ts';
import { filesOf, knownEffects, on, showTeam, workedMs } from './team-at-work.ts';
import type { TaskAtWork, TeamAtWork, TeamChanges } from './team-at-work.ts';
import { readFailure, stopWhenCancelled } from '../shared/failures.ts';

/** A task with the plan that holds it. */
export interface PlannedTask {
  readonly task: TeamTask;
  readonly delegation: DelegationOutline;
  readonly plan_ref: Ref;
}

interface AttemptEnd {
  readonly outcome: DelegationOutcome | null;
  /** Reason why there is no outcome. */
  readonly lost: string;
  readonly why: FailureReason | null;
  readonly partial_ref: Ref | null;
}

/**
 * Has a member do a task, with retries where they may help, until it is done, has failed for good, or its time is over.
 */
export async function doTask(t: TeamAtWork, planned: PlannedTask): Promise<TaskRecord> {
  const { delegation_id, member_id } = planned.task;
  const seat = t.state.setup.members.find((one) => one.member_id === member_id);
  if (seat === undefined) throw new Error(`There is no member ${member_id}.`);
  const at: TaskAtWork = {
    scope: new CancellationScope(),
    since_ms: workedMs(t),
    isTimedOut: false,
  };
  t.running.set(delegation_id, at);
  t.seen.set(delegation_id, { turns: 0, usage: noUsage, status: null });
  showTeam(t);
  const last = await at.scope.run(() => attempt(t, planned, seat, at));
  t.running.delete(delegation_id);
  return recordOf(t, planned, at, last);
}

async function attempt(
  t: TeamAtWork,
  planned: PlannedTask,
  seat: TeamSeat,
  at: TaskAtWork,
): Promise<AttemptEnd> {
  const { delegation_id } = planned.task;
  const { max_retries, member_timeout } = t.state.setup;
  for (let n = 1; ; n += 1) {
    // One after the other: each begins where the one before has failed.
    // oxlint-disable-next-line no-await-in-loop
    const end = await inSpan(
      taskSpan(delegation_id, seat, n),
      () => executeOnce(t, planned, seat),
      ({ outcome, why }) => workEnd(statusOf(t, at, outcome), why),
    );
    if (end.outcome?.status === 'completed' || at.scope.consideredCancelled) return end;
    const left_ms = member_timeout * 1_000 - (workedMs(t) - at.since_ms);
    const has_acted = knownEffects(t).some(({ effect_id }) => isEffectOf(delegation_id, effect_id));
    const { why } = end;
    const wait = decideRetry(
      { attempt: n, why, kind: seat.executor.kind, has_acted, left_ms },
      max_retries,
    );
    if (wait === null) return end;
    const slept = stopWhenCancelled(async () => {
      await sleep(wait, {
        summary: stepSummary(delegation_id, `${seat.member_id} is tried again`),
      });
      return true;
    });
    // oxlint-disable-next-line no-await-in-loop
    if ((await slept) === null) return end;
    on(t, { type: 'retried', delegation_id });
  }
}

async function executeOnce(
  t: TeamAtWork,
  planned: PlannedTask,
  seat: TeamSeat,
): Promise<AttemptEnd> {
  const { delegation_id } = planned.task;
  const budget = openBudget(t, seat);
  const before = t.seen.get(delegation_id);
  const note = (
    turns: number,
    usage: typeof noUsage,
    status: DelegationStatusView | null,
  ): void => {
    t.seen.set(delegation_id, {
      turns: (before?.turns ?? 0) + turns,
      usage: addUsage(before?.usage ?? noUsage, usage),
      status,
    });
    showTeam(t);
  };
  let end: Pick<AttemptEnd, 'why' | 'partial_ref'> = { why: null, partial_ref: null };
  const order = orderOf(t, planned);
  const context: ExecutionContext = {
    order,
    carried: null,
    control: t.context.control,
    superior: t.superior.forMember((question) => holdClock(t, question)),
    budget: budget ?? t.context.budget,
    onStatus: (status) => note(status.turn, status.usage, status),
    carryOver: null,
    // The phases of a triad are workflows, which get their ids below it.
    place:
      seat.executor.kind === 'triad'
        ? taskPlace(t.context.place, namePath(delegation_id))
        : t.context.place,
    escalations: t.context.escalations,
    sharedBudget: t.budget,
    taskCount: t.taskCount,
    onEnd(how) {
      end = how;
    },
  };
  try {
    const outcome = await t.context.execute(order.delegation.executor, context);
    note(outcome.turns, outcome.usage, null);
    t.loaded.set(delegation_id, outcome.loaded_details);
    return { outcome, lost: '', ...end };
  } catch (error) {
    if (isCancellation(error)) return { outcome: null, lost: 'stopped', ...end };
    const seen = t.seen.get(delegation_id);
    t.seen.set(delegation_id, {
      turns: seen?.turns ?? 0,
      status: null,
      usage: addUsage(seen?.usage ?? noUsage, lostUsage(budget?.lose() ?? null)),
    });
    return { outcome: null, lost: readFailure(error).message, why: 'lost', partial_ref: null };
  } finally {
    budget?.close();
  }
}

/** Opens the budget of a member; null for a team, whose leader and members share the budget of the delegation. */
function openBudget({ budget }: TeamAtWork, { executor: { kind } }: TeamSeat): MemberBudget | null {
  if (kind === 'team') return null;
  return kind === 'triad' ? budget.forChildren() : budget.forCalls();
}

/** Stops the clock while a question waits for the user, so that no time limit runs. */
function holdClock(t: TeamAtWork, question: string): void {
  if (question === '') t.clock.go();
  else t.clock.stand();
}

function orderOf(t: TeamAtWork, { task, delegation, plan_ref }: PlannedTask): DelegationOrder {
  const { state } = t;
  const { order } = t.context;
  const known = [...order.upstream, ...outputsOf(t)];
  const { rule_of_two } = order.delegation;
  return {
    ...order,
    delegation: { ...delegation, ...(rule_of_two !== undefined && { rule_of_two }) },
    plan_ref,
    upstream: known.filter(({ delegation_id }) => task.inputs.includes(delegation_id)),
    reservation: null,
    chain: [
      ...(order.chain ?? []),
      {
        executor_id: executorOf(state),
        given: state.tasks.entries.map(({ delegation_id, fingerprint }) => ({
          delegation_id,
          fingerprint,
        })),
      },
    ],
  };
}

/**
 * Lists the members' results so far, each with the files that were written for it, in the order of the tasks. Changes of those
 * that are unfinished reach neither the leader's copy nor another member's.
 */
export function outputsOf(t: Pick<TeamAtWork, 'records'> & TeamChanges): UpstreamOutput[] {
  const effects = knownEffects(t);
  return [...t.records.values()].flatMap(({ delegation_id, output_ref, status }) => {
    if (output_ref === null) return [];
    const output = { delegation_id, output_ref, ...filesOf(effects, delegation_id) };
    return [status === 'completed' ? output : { ...output, unfinished: true as const }];
  });
}

function recordOf(
  t: TeamAtWork,
  { task, delegation: { executor }, plan_ref }: PlannedTask,
  at: TaskAtWork,
  { outcome, lost, partial_ref }: AttemptEnd,
): TaskRecord {
  const { delegation_id, member_id, title, inputs } = task;
  const { turns, usage } = t.seen.get(delegation_id) ?? { turns: 0, usage: noUsage };
  const status = statusOf(t, at, outcome);
  return {
    delegation_id,
    member_id,
    title,
    plan_ref,
    inputs,
    status,
    reason: reasonOf(t, status, outcome?.reason ?? lost),
    attempts:
      t.state.tasks.entries.find((one) => one.delegation_id === delegation_id)?.attempts ?? 1,
    output_ref: outcome?.output_ref ?? null,
    partial_ref: status === 'completed' ? null : partial_ref,
    turns,
    usage,
    worked_ms: Math.round(workedMs(t) - at.since_ms),
    executor: outcome?.executor ?? withoutWork(executor.kind),
  };
}

function statusOf(t: TeamAtWork, at: TaskAtWork, outcome: DelegationOutcome | null): TaskStatus {
  if (outcome?.status === 'completed') return 'completed';
  if (at.isTimedOut || t.closed?.status === 'timed_out') return 'timed_out';
  return at.scope.consideredCancelled ? 'stopped' : 'failed';
}

function reasonOf({ state, closed }: TeamAtWork, status: TaskStatus, reason: string): string {
  if (status !== 'timed_out') return reason;
  const { member_timeout } = state.setup;
  return closed === null
    ? `its ${member_timeout} s (member_timeout) were over before it was done`
    : closed.reason;
}

/** One attempt at a task of a team. @param nth From 1. */
function taskSpan(delegationId: string, seat: TeamSeat, nth: number): SpanStart {
  const { member_id, agent_id } = seat;
  const { kind } = seat.executor;
  const attributes = {
    'planwave.task': namePath(delegationId),
    'planwave.member': member_id,
    'planwave.kind': kind,
    'planwave.attempt': nth,
  };
  if (kind === 'agent') return agentSpan(agent_id, attributes);
  return {
    name: `invoke_workflow ${member_id}`,
    attributes: {
      'gen_ai.operation.name': 'invoke_workflow',
      'gen_ai.workflow.name': member_id,
      ...attributes,
    },
  };
}
