import type { RecordedCall } from '../../rehearsal/script.ts';
import { countReplies } from './conversation.ts';

/** A call as its packet and its conversation tell: `plan 1`, `costs 2`, `region negotiate peer-1 2`, `desk.law 1`. */
export type CallName = string;

/** A run that takes the defaults for answers has nothing to review. */
export function isReview(name: CallName): boolean {
  return name.startsWith('question_review ');
}

/** @throws when the key is not one of the engine's. */
export function callNameOf({
  callKey,
  turn,
  task,
  body,
}: Pick<RecordedCall, 'callKey' | 'turn' | 'task' | 'body'>): CallName {
  const owner = task?.delegation_id || readCallKey(callKey).owner;
  const whose = turn === null ? owner : `${owner} ${turn.phase} ${turn.member}`;
  return `${whose} ${countReplies(body) + 1}`;
}

export interface CallAddress {
  readonly workflowId: string;
  readonly activityId: string;
  /** The delegation in whose workflow or below it the call was made; `plan`, `decision` or `question_review` of a wave. */
  readonly owner: string;
}

/** Takes `<workflow id>/<agent>/<shape>/<activity id>` apart. */
export function readCallKey(callKey: string): CallAddress {
  const [, workflowId = '', delegation, shape, activityId = ''] =
    /^(.+?\/wave-\d+(?:\/([\w-]+)(?:\/[\w.-]+)*)?)\/[\w-]+\/(?:wave_)?(\w+)\/(\w+)$/.exec(
      callKey,
    ) ?? [];
  const owner = delegation ?? shape;
  if (owner === undefined) throw new Error(`The call key ${callKey} is not one of the engine's.`);
  return { workflowId, activityId, owner };
}
