import { textOf } from '../json.ts';
import type { MessagesRequest } from '../messages-api.ts';
import { firstOfEach, listBlocks, objectBlock, textIn } from './blocks.ts';

/** A tool that only the leader of a team is offered. */
export const delegationTool = 'delegate_task_to_member';

/** For which delegation a call is made, and by whom. */
export interface TaskPlace {
  /** A task that a leader gave out is called `<delegation_id of the team>.<name>`. */
  readonly delegation_id: string;
  readonly agent_id: string;
  /** Whether it may give out tasks itself. */
  readonly leads: boolean;
}

const role = /^<role agent_id="([^"]*)">/mu;

/** For which delegation a request is made; null when it is none of an agent that does one. */
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
