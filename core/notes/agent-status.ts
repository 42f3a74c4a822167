/**
 * Follows the status of an agent (seed 003, "Agent Status Values").
 *
 * Invariants:
 *   AG1. Only these changes happen; every other event is refused, and leaves the status as it is.
 *   AG2. Nothing is ready for verification before a review of the notes, or verified before it was ready.
 *   AG3. A session that is complete never changes again.
 */
import type { AgentStatusValue } from '../../contracts/note.ts';

export type AgentEvent =
  /** It begins to work. */
  | 'begin'
  /** It believes that its work is done, and goes through its notes. */
  | 'review'
  /** The review led to more work. */
  | 'revise'
  /** No note is open or escalated, and the output keeps its rules. */
  | 'finish'
  /** It waits for an answer. */
  | 'block'
  | 'answer'
  | 'verify'
  /** Its verification failed. */
  | 'reject'
  | 'fail'
  /** It is tried again after a failure. */
  | 'retry'
  /** The whole task is over. */
  | 'complete';

const changes: Readonly<
  Record<AgentStatusValue, Readonly<Partial<Record<AgentEvent, AgentStatusValue>>>>
> = {
  pending: { begin: 'working' },
  working: { review: 'completion_drive_review', block: 'blocked', fail: 'failed' },
  completion_drive_review: {
    revise: 'working',
    finish: 'ready_for_verification',
    block: 'blocked',
    fail: 'failed',
  },
  // A task for which no verification was ordered ends without one.
  ready_for_verification: {
    verify: 'verified',
    reject: 'working',
    fail: 'failed',
    complete: 'session_complete',
  },
  verified: { complete: 'session_complete', reject: 'working' },
  blocked: { answer: 'working', fail: 'failed' },
  failed: { retry: 'working' },
  session_complete: {},
};

export type StatusStep =
  | { readonly ok: true; readonly status: AgentStatusValue }
  | { readonly ok: false; readonly status: AgentStatusValue; readonly reason: string };

export function stepAgentStatus(status: AgentStatusValue, event: AgentEvent): StatusStep {
  const next = changes[status][event];
  if (next !== undefined) return { ok: true, status: next };
  return { ok: false, status, reason: `"${event}" does not fit the status ${status}` };
}

/** Returns the status after the events, from `pending`. Those that do not fit change nothing. */
export function statusAfter(events: readonly AgentEvent[]): AgentStatusValue {
  return events.reduce<AgentStatusValue>(
    (status, event) => stepAgentStatus(status, event).status,
    'pending',
  );
}
