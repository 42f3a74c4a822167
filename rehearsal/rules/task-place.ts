import { textOf } from '../json.ts';
import type { MessagesRequest } from '../messages-api.ts';
import { firstOfEach, listBlocks, objectBlock, textIn } from './blocks.ts';

/** A tool that is offered only to the leader of a team. */
export const delegationTool = 'delegate_task_to_member';

/** Delegation and agent of a call. */
export interface TaskPlace {
  /** A leader's task has the id `<delegation_id of the team>.<name>`. */
  readonly delegation_id: string;
  readonly agent_id: string;
  /** True when it may create tasks itself. */
  readonly leads: boolean;
}

const role = /^<role agent_id="([^"]*)">/mu;

/** Returns the delegation of a request; null when the request belongs to none. */
export function placeTask(request: MessagesRequest): TaskPlace | null {
  const text = textIn(request.messages[0]?.blocks ?? []);
  const agentId = role.exec(text)?.[1];
  if (agentId === undefined) return null;
  const delegation = objectBlock(firstOfEach(listBlocks(text)), 'delegation');
  return {
    delegation_id: textOf(delegation['delegation_id']),
    agent_id: agentId,
    leads: request.tools.some(({ name }) => name === delegationTool),
  };
}
