import type { DelegationOrder } from '../../contracts/delegation-run.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { Passable } from '../../contracts/agent-output.ts';
import type { AskedQuestion, QuestionKind } from '../../contracts/question.ts';
import { engineLimits } from '../../core/limits.ts';
import { checkOutline } from '../../core/output/check-agent-output.ts';
import { turnSummary, stepSummary } from '../../core/render/labels.ts';
import { cleanLine } from '../../core/text/cut-text.ts';
import { addUsage } from '../../core/usage/add-usage.ts';
import { readingOf, callTools } from '../execution/call-tools.ts';
import type { ConversationContext, ConversationEnd, ToolsDone } from '../shared/conversation.ts';
import { outputsOf, doTask } from './do-task.ts';
import {
  filesOf,
  knownEffects,
  showTeam,
  on,
  workedMs,
  noteConflicts,
  noteRefusal,
  noteTaskEnd,
} from './team-at-work.ts';
import type { TeamAtWork } from './team-at-work.ts';
import type { ToolContext } from '../execution/call-acting-tool.ts';
import { askSuperior } from '../shared/superior.ts';
import { CancelledFailure } from '@temporalio/workflow';
import type { StateToolCall, ToolCall, TurnInput } from '../../contracts/model-turn.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { TaskRecord } from '../../contracts/team-run.ts';
import { describeFault } from '../../core/text/list-names.ts';
import { admitCalls } from '../../core/team/admit-calls.ts';
import type { GivenCall, RefusalKind, TeamTask } from '../../core/team/team-state.ts';
import { planTasks } from '../shared/activities.ts';
import type { PlannedTask } from './do-task.ts';
import { recordOfSkipped } from './finish-team.ts';
import { isToolCall } from '../execution/call-acting-tool.ts';
import { converseAsking } from '../shared/converse-asking.ts';
import { callUntilDone } from '../shared/failures.ts';
import { cutReason } from '../../core/team/team-state.ts';

/** Lets the leader work until it has combined its members' results into one answer. */
export function lead(t: TeamAtWork): Promise<ConversationEnd> {
  return converseAsking(t.own.conversation, contextOf(t), (questions) =>
    ask(t, 'blocking', questions),
  );
}

function contextOf(t: TeamAtWork): ConversationContext {
  const { context, own } = t;
  const { order } = context;
  const { leader: agent_id, model } = t.state.setup;
  const { delegation_id } = order.delegation;
  const toolContext: ToolContext = {
    order: { ...order, delegation: { ...order.delegation, agent_id } },
    control: context.control,
    superior: own.superior,
    work: own.tools,
    budget: own.budget,
    onSpent(usage) {
      own.conversation.usage = addUsage(own.conversation.usage, usage);
      showTeam(t);
    },
    label: (tool) =>
      cleanLine(`${agent_id} · ${delegation_id} · ${tool}`, engineLimits.labelCharsMax),
    async ask(kind, question, deadlineSeconds) {
      const [answer] = await ask(t, kind, [question], deadlineSeconds);
      return answer;
    },
  };
  return {
    run_id: order.run_id,
    agent_id,
    delegation_id,
    registry_ref: order.registry_ref,
    stage: 'leader',
    reading: () => readingOf(withResults(t), own.tools),
    label: (calls) => turnSummary(agent_id, delegation_id, calls),
    offer: { ...(model !== null && { model }), state_tools: ['delegate_task_to_member'] },
    passable: () => listPassable(t),
    control: context.control,
    superior: own.superior,
    budget: own.budget,
    check: (outline) => checkOutline(outline, order.delegation.criterion_ids, knownEffects(t)),
    runTools: (calls) => callTeam(t, calls, toolContext),
    onTurn: () => showTeam(t),
    // The use of a call is shown even while a pause delays the next one.
    onReply: () => showTeam(t),
    carryOver: () => context.carryOver?.isDue() === true,
  };
}

/** Lets the leader load the results of its members in full, and work on top of what they completed. */
function withResults(t: TeamAtWork): DelegationOrder {
  const { order } = t.context;
  return { ...order, upstream: [...order.upstream, ...outputsOf(t)] };
}

/** Lists the results that its output may pass on, by the leader's own name and by the id in a result. */
function listPassable({ state, records }: TeamAtWork): Passable[] {
  return state.tasks.entries.flatMap(({ name, delegation_id }): Passable[] => {
    const output_ref = records.get(delegation_id)?.output_ref ?? null;
    return output_ref === null
      ? []
      : [{ type: 'result', names: [name, delegation_id], output_ref }];
  });
}

/** Puts the leader's questions to the user. Throws when the team is cancelled while it waits. */
function ask(
  { context: { order }, own, state }: TeamAtWork,
  kind: QuestionKind,
  questions: readonly AskedQuestion[],
  deadlineSeconds?: number,
): Promise<readonly DeliveredAnswer[]> {
  const { delegation_id: escalation_id } = order.delegation;
  const { leader: agent_id } = state.setup;
  return askSuperior(order, own, { escalation_id, agent_id, kind, questions, deadlineSeconds });
}

/** Results of the calls of one reply, by tool_use_id. */
interface Heard {
  readonly delegation_id: string;
  readonly results: Map<string, TurnInput>;
  readonly refused: OutputFault[];
}

/**
 * Carries out the calls of one reply of the leader: its ordinary tools first, then its tasks. A refused call costs
 * nothing; a reply with nothing else spends one of the leader's attempts.
 */
async function callTeam(
  t: TeamAtWork,
  calls: readonly (ToolCall | StateToolCall)[],
  context: ToolContext,
): Promise<ToolsDone> {
  const { delegation_id } = t.context.order.delegation;
  const heard: Heard = { delegation_id, results: new Map(), refused: [] };
  const order = { ...context.order, upstream: withResults(t).upstream };
  await callOrdinary(calls.filter(isToolCall), { ...context, order }, heard);
  const room = engineLimits.teamTasksMax - t.taskCount.given;
  const admitted = admitCalls(t.state, readCalls(calls, heard), workedMs(t), room);
  t.state = admitted.state;
  t.taskCount.given += admitted.tasks.length;
  for (const { tool_use_id, reason, kind } of admitted.refused) {
    refuse(heard, { tool_use_id, kind }, { path: 'delegate_task_to_member', reason, hint: '' });
  }
  await giveOut(t, admitted.tasks);
  await noteConflicts(t, admitted.tasks);
  for (const task of admitted.tasks) {
    const record = t.records.get(task.delegation_id);
    if (record !== undefined) heard.results.set(task.tool_use_id, resultOf(t, task, record));
  }
  const { results, refused } = heard;
  return {
    inputs: calls.flatMap(({ tool_use_id }) => results.get(tool_use_id) ?? []),
    verdict:
      refused.length === calls.length ? { type: 'invalid', faults: refused } : { type: 'go_on' },
    calls_made: 0,
  };
}

async function callOrdinary(
  calls: readonly ToolCall[],
  context: ToolContext,
  { results }: Heard,
): Promise<void> {
  const inputs = await callTools(calls, context);
  for (const [at, { tool_use_id }] of calls.entries()) {
    const input = inputs[at];
    if (input !== undefined) results.set(tool_use_id, input);
  }
}

/** Reads the calls that create tasks, and refuses those with invalid arguments. */
function readCalls(calls: readonly (ToolCall | StateToolCall)[], heard: Heard): GivenCall[] {
  return calls.flatMap((call): GivenCall[] => {
    if (isToolCall(call)) return [];
    const { tool_use_id, state } = call;
    if (!state.ok) {
      refuse(
        heard,
        { tool_use_id, kind: 'arguments' },
        { path: '', reason: state.faults.map(describeFault).join('\n'), hint: '' },
      );
      return [];
    }
    return state.call.tool === 'delegate_task_to_member' ? [{ tool_use_id, call: state.call }] : [];
  });
}

function refuse(
  { delegation_id, refused, results }: Heard,
  { tool_use_id, kind }: { readonly tool_use_id: string; readonly kind: RefusalKind },
  fault: OutputFault,
): void {
  noteRefusal(delegation_id, kind);
  refused.push(fault);
  const text = describeFault(fault);
  results.set(tool_use_id, {
    type: 'state_result',
    tool_use_id,
    text,
    current_ref: null,
    is_error: true,
  });
}

/** Has the tasks done. @throws CancelledFailure when the team was stopped in the meantime. */
async function giveOut(t: TeamAtWork, tasks: readonly TeamTask[]): Promise<void> {
  if (tasks.length === 0) return;
  const { registry_ref, plan_ref, delegation } = t.context.order;
  const { plan_ref: tasksRef, delegations } = await callUntilDone(
    t.own.superior,
    planTasks,
    stepSummary(delegation.delegation_id, `${tasks.length} tasks`),
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
  t.own.budget.rest();
  await doTasks(t, planned, on(t, { type: 'resume' }));
  on(t, { type: 'pause' });
  for (const task of t.state.tasks.entries) {
    const isNew = planned.has(task.delegation_id) && !t.records.has(task.delegation_id);
    if (isNew) t.records.set(task.delegation_id, recordOfSkipped(t.state, task, tasksRef));
  }
  // Cancelled tasks end by themselves; their leader is not called again just to hear that.
  if (t.scope.consideredCancelled) throw new CancelledFailure('The team was stopped.');
  t.leaderState = 'thinking';
  showTeam(t);
}

/** Does tasks at the same time, and those that follow from each as soon as it ends. */
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
      const { status, reason } = cutReason(record);
      const before = t.state;
      const next = on(t, { type: 'ended', delegation_id, status, reason, leaves_unmet: false });
      noteTaskEnd(record, before, t.state, workedMs(t));
      showTeam(t);
      await doTasks(t, planned, next);
    }),
  );
}

/** Builds the leader's input about an ended task. */
function resultOf(t: TeamAtWork, task: TeamTask, record: TaskRecord): TurnInput {
  const { delegation_id, name, tool_use_id, member_id } = task;
  const { setup, tasks } = t.state;
  const { status, reason, attempts, output_ref, partial_ref } = record;
  const { files = [] } = filesOf(knownEffects(t), delegation_id);
  return {
    type: 'task_result',
    tool_use_id,
    delegation_id,
    name,
    member_id,
    status,
    reason,
    attempts,
    output_ref,
    partial_ref,
    ...(files.length > 0 && { files: files.map(({ path }) => path) }),
    delegations_left: setup.max_delegations - tasks.entries.length,
    seconds_left: Math.max(0, Math.floor(setup.timeout - workedMs(t) / 1_000)),
  };
}
