import {
  type MessagesRequest,
  isObject,
  objectsOf,
  quote,
  textOf,
  type JsonObject,
} from '../messages-api.ts';
import type { ContentReply, ScriptedToolCall } from '../script.ts';
import {
  delegationTool,
  firstOfEach,
  jsonBlock,
  listBlocks,
  objectBlock,
  placeTask,
  textIn,
  type Prompt,
} from './prompt.ts';
import { asksForDirectAnswer } from './rehearsal-marks.ts';

/** Team and created tasks in a leader's packet. */
interface LeaderPrompt {
  /** member_ids that take tasks, in the order of the team. */
  readonly enabled: readonly string[];
  /** Infinity when the packet names no limit. */
  readonly delegationsMax: number;
  /** Maps the id of each call that created a task to its member_id. */
  readonly given: ReadonlyMap<string, string>;
  /** The previous message of a continued thread; empty when there is none. */
  readonly earlier: string;
}

/** Reads the packet of a team's leader. Never throws; null when the request is not a leader's. */
export function readLeader(request: MessagesRequest): LeaderPrompt | null {
  if (placeTask(request)?.leads !== true) return null;
  const first = firstOfEach(listBlocks(textIn(request.messages[0]?.blocks ?? [])));
  const max = objectBlock(first, 'team')['max_delegations'];
  return {
    enabled: objectsOf(jsonBlock(first, 'members'))
      .filter(({ enabled }) => enabled !== false)
      .map(({ member_id }) => textOf(member_id))
      .filter((id) => id !== ''),
    delegationsMax: typeof max === 'number' ? max : Infinity,
    given: new Map(
      request.messages
        .flatMap(({ blocks }) => blocks)
        .filter(({ type, name }) => type === 'tool_use' && name === delegationTool)
        .map(({ id, input }) => [textOf(id), textOf(isObject(input) ? input['member_id'] : '')]),
    ),
    earlier: textOf(
      objectsOf(jsonBlock(first, 'thread_messages')).findLast(({ role }) => role === 'user')?.[
        'text'
      ],
    ),
  };
}

/**
 * Creates the tasks of a leader in its first reply: one for each member, all at once. The last one gets the results of
 * the others, to show how results are passed on.
 *
 * @returns null when it is time for its output.
 */
export function giveTasks(prompt: Prompt, leader: LeaderPrompt): ContentReply | null {
  const task = textOf(prompt.delegation['task_description']) || prompt.goal;
  if (leader.given.size > 0 || asksForDirectAnswer(`${prompt.goal} ${task}`)) return null;
  const chosen = leader.enabled.slice(0, leader.delegationsMax);
  const calls = chosen.map((id, at): ScriptedToolCall => {
    const earlier = at === chosen.length - 1 ? chosen.slice(0, at) : [];
    return {
      name: delegationTool,
      input: {
        member_id: id,
        task: `Rehearsal: take the part of ${id} in this: ${quote(task, 1_000)}`,
        name: id,
        ...(earlier.length > 0 && { inputs: earlier }),
      },
    };
  });
  if (calls.length === 0) return null;
  const text = `Rehearsal of the leader: ${calls.length} ${calls.length === 1 ? 'task goes' : 'tasks go'} to ${chosen.join(', ')}. No model was called.`;
  return { text, tool_use: calls };
}

/** Describes the result of each task, for the leader's output. */
export function describeResults(
  request: MessagesRequest,
  { given }: LeaderPrompt,
): readonly string[] {
  return request.messages
    .flatMap(({ blocks }) => blocks)
    .filter(({ type }) => type === 'tool_result')
    .flatMap((block: JsonObject) => {
      const member = given.get(textOf(block['tool_use_id']));
      if (member === undefined) return [];
      return [`${member}: ${readResult(block['content'])}`];
    });
}

function readResult(content: unknown): string {
  const text =
    typeof content === 'string'
      ? content
      : objectsOf(content)
          .map((part) => textOf(part['text']))
          .join(' ');
  // The member's short result, if the engine shows it.
  const [, rest = ''] = text.split('<compact_md>', 2);
  const [compact = '', after] = rest.split('</compact_md>', 2);
  return after === undefined ? text : compact.trim();
}
