import type { z } from 'zod';
import type { AgentOutput, PassingOutput } from '../../contracts/agent-output.ts';
import type { WrittenDelegation } from '../../contracts/delegation.ts';
import type { stateToolInputs } from '../../contracts/state-call.ts';
import type { TeamInput, TeamMember, TeamPlan } from '../../contracts/team.ts';
import { readMessagesRequest } from '../../rehearsal/messages-api.ts';
import { delegationTool } from '../../rehearsal/rules/prompt.ts';
import type {
  ContentReply,
  RecordedCall,
  Reply,
  ReplyFunction,
  ScriptRule,
  ScriptedToolCall,
  TaskPlace,
} from '../../rehearsal/script.ts';
import type { RehearsalServer } from '../../rehearsal/server/server.ts';
import { work } from './scripted-work.ts';

/** delegation_id of a team that was started alone. Its tasks are `task.d1`, `task.d2` … */
export const loneTeam = 'task';

/** criterion_id of a leader's task, and of a team that was started with a message alone. */
export const taskCriterion = 'c1';

/** Creates members that are the shipped agents of these names, unless specified otherwise. */
export function members(...ids: readonly (string | TeamMember)[]): TeamMember[] {
  return ids.map((id) => (typeof id === 'string' ? { id } : id));
}

/** Creates the input that starts a team alone. */
export function teamInput(
  ids: readonly (string | TeamMember)[],
  over: Partial<TeamInput> = {},
): TeamInput {
  return { message: 'Do what the test stands for.', members: [...ids], ...over };
}

/** Creates a delegation that a team does. Its one criterion is `<id>-done` unless others are given. */
export function teamWork(
  id: string,
  team: TeamPlan,
  over: Parameters<typeof work>[1] = {},
): WrittenDelegation {
  return work(id, { agent_id: 'leader', team, ...over });
}

type TaskInput = z.input<typeof stateToolInputs.delegate_task_to_member>;

/** Creates a leader's call. For arguments that do not fit the schema, write `{ name, input }` directly. */
export function gives(
  memberId: string,
  task = `Do what ${memberId} is for.`,
  over: Partial<TaskInput> = {},
): ScriptedToolCall {
  return { name: delegationTool, input: { member_id: memberId, task, ...over } };
}

/** Creates a reply of a leader that creates tasks, all at once. */
export function delegates(...calls: readonly ScriptedToolCall[]): ContentReply {
  return { text: `Gives out ${calls.length}.`, tool_use: calls };
}

/** Calls, the final output, or any other reply. */
export type LeaderReply =
  | readonly ScriptedToolCall[]
  | { readonly output: AgentOutput | PassingOutput }
  | Reply
  | ReplyFunction;

/**
 * Creates the rules for a leader, one for each of its calls. The rehearsal's own leader takes further calls.
 *
 * @param delegationId of the team: a nested one has that of the task it does, such as `task.d2`.
 */
export function leads(
  replies: readonly LeaderReply[],
  delegationId: string = loneTeam,
): ScriptRule[] {
  return replies.map((reply, at) => ({
    match: { delegation: delegationId, leads: true, nth: at + 1 },
    reply: toReply(reply),
  }));
}

function toReply(reply: LeaderReply): Reply | ReplyFunction {
  if (isCalls(reply)) return delegates(...reply);
  return typeof reply === 'object' && 'output' in reply ? { json: reply.output } : reply;
}

function isCalls(reply: LeaderReply): reply is readonly ScriptedToolCall[] {
  return Array.isArray(reply);
}

/** Task that a rule is for; an absent field matches any. */
export interface TaskMatch {
  /** Leader's name for the task, `d1` … unless it gave one; below a nested team `d2.d1`. */
  readonly task?: string;
  /** Agent that does it: the member's id, unless its definition names another. */
  readonly agent?: string;
  /** Matches only the nth call that fits, from 1: further calls of one task count as well. */
  readonly nth?: number;
  /** Id of the outermost team. Default: the one that is started alone. */
  readonly team?: string;
}

/** Creates the rule for an agent that does a task of a team. Tasks that no rule fits are rehearsed. */
export function does(match: TaskMatch, reply: Reply | ReplyFunction): ScriptRule {
  const { task, agent, nth, team = loneTeam } = match;
  return {
    match: {
      leads: false,
      schema: 'delegation',
      ...(task !== undefined && { delegation: `${team}.${task}` }),
      ...(agent !== undefined && { agent }),
      ...(nth !== undefined && { nth }),
    },
    reply,
  };
}

/** Returns the calls of a leader, in the order of arrival. */
export function leaderCalls(
  rehearsal: Pick<RehearsalServer, 'calls'>,
  delegationId: string = loneTeam,
): readonly RecordedCall[] {
  return callsWhere(rehearsal, (task) => task.leads && task.delegation_id === delegationId);
}

/** Returns the calls of agents other than leaders, in the order of arrival. */
export function taskCalls(
  rehearsal: Pick<RehearsalServer, 'calls'>,
  { task, agent, team = loneTeam }: Omit<TaskMatch, 'nth'> = {},
): readonly RecordedCall[] {
  return callsWhere(
    rehearsal,
    ({ leads: isLeader, delegation_id, agent_id }) =>
      !isLeader &&
      (task === undefined || delegation_id === `${team}.${task}`) &&
      (agent === undefined || agent_id === agent),
  );
}

function callsWhere(
  { calls }: Pick<RehearsalServer, 'calls'>,
  holds: (task: TaskPlace) => boolean,
): readonly RecordedCall[] {
  return calls().filter(({ task }) => task !== null && holds(task));
}

/** Result of a call as the leader received it. */
export interface HeardResult {
  readonly tool_use_id: string;
  readonly text: string;
  readonly is_error: boolean;
}

/** Returns the tool results in the newest message of a call, in their order. @throws when there was no such call. */
export function heardResults(recorded: Pick<RecordedCall, 'body'> | undefined): HeardResult[] {
  const request = readMessagesRequest(JSON.stringify(recorded?.body ?? null), true);
  if (typeof request === 'string') throw new Error(`There was no such call: ${request}`);
  const blocks = request.messages.at(-1)?.blocks ?? [];
  return blocks
    .filter(({ type }) => type === 'tool_result')
    .map((block) => ({
      tool_use_id: String(block['tool_use_id']),
      text: textOfResult(block['content']),
      is_error: block['is_error'] === true,
    }));
}

function textOfResult(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  return parts
    .map((part) => (typeof part === 'object' && part !== null && 'text' in part ? part.text : ''))
    .join('\n');
}
