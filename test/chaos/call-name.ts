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
  /** Workflow id of a wave or a phase, or path of a delegation. */
  readonly place: string;
  readonly activityId: string;
  /** The delegation for which the call was made; `plan`, `decision` or `question_review` of a wave. */
  readonly owner: string;
}

/** Takes `<place>/<agent>/<shape>/<activity id>` apart. */
export function readCallKey(callKey: string): CallAddress {
  const [, place = '', delegation, shape, activityId = ''] =
    /^(.+?\/wave-\d+(?:\/([\w-]+)(?:\/[\w.-]+)*)?)\/[\w-]+\/(?:wave_)?(\w+)\/(\w+)$/.exec(
      callKey,
    ) ?? [];
  const owner = delegation ?? shape;
  if (owner === undefined) throw new Error(`The call key ${callKey} is not one of the engine's.`);
  return { place, activityId, owner };
}

/** Lists the workflows that may have made a call: a delegation works in its wave's workflow or in one of its own. */
export function callersOf({ place }: CallAddress): readonly string[] {
  return [place, place.replace(/\/[^/]+$/u, '')];
}
