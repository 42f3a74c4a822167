import type { RecordedCall } from '../../rehearsal/script.ts';
import { countReplies, messageTexts } from './conversation.ts';
import { withoutTimes } from './design-facts.ts';

/**
 * A call as its packet and its conversation tell: `plan 1`, `costs 2`, `region negotiate peer-1 2`, `desk.law 1`, `design research
 * Markdown 1`.
 */
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
  const owner = task?.delegation_id || nameOwner(callKey, body);
  const whose = turn === null ? owner : `${owner} ${turn.phase} ${turn.member}`;
  return `${withoutTimes(whose)} ${countReplies(body) + 1}`;
}

/** Names the stage of a design and what it is about; every other call by its owner. */
function nameOwner(callKey: string, body: unknown): string {
  const { owner } = readCallKey(callKey);
  if (owner !== 'design') return owner;
  const [first = ''] = messageTexts(body);
  const stage = /^<request kind="design" stage="(\w+)">/u.exec(first)?.[1] ?? 'unknown';
  const subject = /^<subject>\s*"([^"\n]*)"/mu.exec(first)?.[1];
  return [owner, stage, ...(subject === undefined ? [] : [subject])].join(' ');
}

export interface CallAddress {
  /** Workflow id of a run, a wave, a phase or a design, or path of a delegation. */
  readonly place: string;
  readonly activityId: string;
  /** The delegation for which the call was made; `plan`, `decision` or `question_review` of a wave; `design`. */
  readonly owner: string;
}

/** Takes `<place>/<agent>/<shape>/<activity id>` apart. */
export function readCallKey(callKey: string): CallAddress {
  const [, place = '', delegation, shape, activityId = ''] =
    /^(.+?\/(?:wave-\d+(?:\/([\w-]+)(?:\/[\w.-]+)*)?|design(?:\/risk)?))\/[\w-]+\/(?:wave_)?(\w+)\/(\w+)$/.exec(
      callKey,
    ) ??
    // A run that judges the work on its designed plan.
    /^([^/]+)()\/[\w-]+\/(design)\/(\w+)$/.exec(callKey) ??
    [];
  const owner = delegation || shape;
  if (owner === undefined) throw new Error(`The call key ${callKey} is not one of the engine's.`);
  return { place, activityId, owner };
}

/**
 * Gives all calls of a reset run that may have been made under one number of an activity the key of the first: after the
 * reset, the number may be another call's, and the ledger has both under one address.
 */
export function shareKeys(callKeys: readonly string[]): ReadonlyMap<string, string> {
  const first = new Map<string, string>();
  return new Map(
    callKeys.map((callKey) => {
      const address = readCallKey(callKey);
      const shared = `${callersOf(address).at(-1)} ${address.activityId}`;
      const key = first.get(shared) ?? callKey;
      first.set(shared, key);
      return [callKey, key];
    }),
  );
}

/**
 * Lists the workflows that may have made a call: a delegation works in its wave's workflow or in one of its own. Calls of a
 * wave, a design or its risk assessment are made in that workflow.
 */
export function callersOf({ place }: CallAddress): readonly string[] {
  if (!/\/wave-\d+\//u.test(place)) return [place];
  return [place, place.replace(/\/[^/]+$/u, '')];
}
