import type { StateToolCall, ToolCall, TurnInput } from '../../contracts/model-turn.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { metrics } from '../../core/metrics/metrics.ts';
import { admitCalls } from '../../core/team/admit-calls.ts';
import { stepTeam } from '../../core/team/step-team.ts';
import type { GivenCall, TeamTask } from '../../core/team/team-state.ts';
import { callTools } from '../delegation/call-tools.ts';
import { isToolCall } from '../delegation/make-call.ts';
import type { ToolDesk } from '../delegation/make-call.ts';
import { planTasks } from '../shared/activities.ts';
import type { ToolsDone } from '../shared/conversation.ts';
import { recorder } from '../shared/recorder.ts';
import { untilDone } from '../shared/until-done.ts';
import { doTask, outputsOf } from './do-task.ts';
import type { PlannedTask } from './do-task.ts';
import { recordOfNotStarted } from './finish-team.ts';
import { showTeam, workedMs } from './team-at-work.ts';
import type { TeamAtWork } from './team-at-work.ts';

/**
 * Carries out the calls of one reply of the leader: its ordinary tools first, then the tasks that it gives out. What is
 * refused costs nothing; a reply with nothing else spends one of the leader's attempts.
 */
export async function callTeam(
  t: TeamAtWork,
  calls: readonly (ToolCall | StateToolCall)[],
  desk: ToolDesk,
): Promise<ToolsDone> {
  const ordinary = calls.filter(isToolCall);
  const results = new Map<string, TurnInput>();
  const made = await callTools(ordinary, withResults(t, desk));
  for (const [at, input] of made.entries()) {
    const id = ordinary[at]?.tool_use_id;
    if (id !== undefined) results.set(id, input);
  }
  const refused: OutputFault[] = [];
  const refuse = (tool_use_id: string, fault: OutputFault): void => {
    refused.push(fault);
    results.set(tool_use_id, refusal(tool_use_id, fault));
  };
  const given: GivenCall[] = [];
  for (const call of calls) {
    if (!('state' in call)) continue;
    const { tool_use_id, state } = call;
    if (!state.ok)
      for (const fault of state.faults.slice(0, 1)) refuse(tool_use_id, whole(state.faults, fault));
    else if (state.call.tool === 'delegate_task_to_member')
      given.push({ tool_use_id, call: state.call });
  }
  const admitted = admitCalls(t.state, given, workedMs(t));
  t.state = admitted.state;
  for (const { tool_use_id, reason } of admitted.refused) {
    refuse(tool_use_id, { path: 'delegate_task_to_member', reason, hint: '' });
  }
  for (const input of await giveOut(t, admitted.tasks)) {
    if ('tool_use_id' in input) results.set(input.tool_use_id, input);
  }
  recorder.count(metrics.teamRefusals, {}, refused.length);
  const isAllRefused = refused.length === calls.length;
  return {
    inputs: calls.flatMap(({ tool_use_id }) => results.get(tool_use_id) ?? []),
    verdict: isAllRefused ? { type: 'invalid', faults: refused } : { type: 'go_on' },
    calls_made: 0,
  };
}

/** What members have brought, the leader may load whole. */
function withResults(t: TeamAtWork, desk: ToolDesk): ToolDesk {
  const { order } = desk;
  return { ...desk, order: { ...order, upstream: [...order.upstream, ...outputsOf(t)] } };
}

/** Has the tasks done. @returns what the leader hears of them. */
async function giveOut(t: TeamAtWork, tasks: readonly TeamTask[]): Promise<TurnInput[]> {
  if (tasks.length === 0) return [];
  const { registry_ref, plan_ref, delegation } = t.order;
  const { plan_ref: tasksRef, delegations } = await untilDone(
    () =>
      planTasks.executeWithOptions({ summary: `${tasks.length} tasks` }, [
        {
          registry_ref,
          plan_ref,
          delegation_id: delegation.delegation_id,
          tasks: tasks.map(({ delegation_id, member_id, title, task_ref, inputs }) => ({
            delegation_id,
            member_id,
            title,
            task_ref,
            inputs,
          })),
        },
      ]),
    (reason) => t.own.superior.park(reason),
  );
  const planned = new Map(
    tasks.flatMap((task, at): [string, PlannedTask][] => {
      const outline = delegations[at];
      return outline === undefined
        ? []
        : [[task.delegation_id, { task, delegation: outline, plan_ref: tasksRef }]];
    }),
  );
  t.leaderState = 'waiting_for_members';
  t.own.funds.rest();
  const step = stepTeam(t.state, { type: 'given' }, workedMs(t));
  t.state = step.state;
  await doTasks(t, planned, step.start);
  for (const task of t.state.tasks) {
    const isNew = planned.has(task.delegation_id) && !t.records.has(task.delegation_id);
    if (isNew) t.records.set(task.delegation_id, recordOfNotStarted(task, tasksRef));
  }
  t.leaderState = 'thinking';
  showTeam(t);
  return tasks.map((task) => resultOf(t, task));
}

/** Does tasks at the same time, and those that follow from each as soon as it is over. */
async function doTasks(
  t: TeamAtWork,
  planned: ReadonlyMap<string, PlannedTask>,
  start: readonly string[],
): Promise<void> {
  await Promise.all(
    start.map(async (delegation_id) => {
      const task = planned.get(delegation_id);
      if (task === undefined) throw new Error(`There is no task ${delegation_id}.`);
      const record = await doTask(t, task);
      t.records.set(delegation_id, record);
      const { status, reason, output_ref } = record;
      recorder.count(metrics.teamTasks, { status });
      const ended = {
        type: 'ended',
        delegation_id,
        status,
        reason,
        has_output: output_ref !== null,
      } as const;
      const step = stepTeam(t.state, ended, workedMs(t));
      t.state = step.state;
      showTeam(t);
      await doTasks(t, planned, step.start);
    }),
  );
}

function resultOf(
  t: TeamAtWork,
  { delegation_id, name, tool_use_id, member_id }: TeamTask,
): TurnInput {
  const { setup, tasks } = t.state;
  const task = tasks.find((one) => one.delegation_id === delegation_id);
  const record = t.records.get(delegation_id);
  const seconds_left = Math.max(0, Math.floor(setup.timeout - workedMs(t) / 1_000));
  return {
    type: 'task_result',
    tool_use_id,
    name,
    member_id,
    status: record?.status ?? 'not_started',
    reason: record?.reason ?? task?.reason ?? '',
    attempts: record?.attempts ?? 0,
    output_ref: record?.output_ref ?? null,
    partial_ref: record?.partial_ref ?? null,
    delegations_left: setup.max_delegations - tasks.length,
    seconds_left,
  };
}

/** All that is wrong with a call's arguments, as one fault. */
function whole(faults: readonly OutputFault[], first: OutputFault): OutputFault {
  return faults.length === 1
    ? first
    : { path: '', reason: faults.map(lineOf).join('\n'), hint: '' };
}

function refusal(tool_use_id: string, fault: OutputFault): TurnInput {
  return {
    type: 'state_result',
    tool_use_id,
    text: lineOf(fault),
    current_ref: null,
    is_error: true,
  };
}

function lineOf({ path, reason, hint }: OutputFault): string {
  return [path === '' ? reason : `${path}: ${reason}`, hint].filter((one) => one !== '').join('. ');
}
