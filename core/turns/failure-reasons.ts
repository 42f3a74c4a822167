/**
 * Reasons of failures from a short list, for metrics. People read a text of its own.
 *
 * Invariants:
 *   FR1. Every failure of a call has a reason of the list, whatever its type.
 *   FR2. Only failures that the model or its provider caused in a call may not recur on a retry.
 */
export const failureReasons = [
  /** The agent itself reported that it failed. */
  'agent_failed',
  'invalid_output',
  'turns_spent',
  /** Cut off at the highest number of output tokens. */
  'output_cut',
  'context_full',
  'refused',
  'budget_spent',
  'unknown_stop',
  'tool_results_missing',
  /** The provider refused the request itself. */
  'request_refused',
  /** The provider's answer is no message. */
  'no_message',
  'artifact_corrupt',
  /** A time limit of a triad passed. */
  'timed_out',
  /** The delegation's workflow was terminated, or failed. */
  'lost',
  'other',
] as const;

export type FailureReason = (typeof failureReasons)[number];

const repeatable: readonly FailureReason[] = ['invalid_output', 'no_message', 'unknown_stop'];

/** Returns true when repeating the work may end otherwise. */
export function isWorthRepeating(why: FailureReason): boolean {
  return repeatable.includes(why);
}

const reasonsOfCalls: Readonly<Record<string, FailureReason | undefined>> = {
  ModelRequest: 'request_refused',
  ModelContextExceeded: 'context_full',
  ModelProtocol: 'no_message',
  ArtifactCorrupt: 'artifact_corrupt',
};

/** @param type Type of the failure that ended a model call for good. */
export function reasonOfCall(type: string): FailureReason {
  return Object.hasOwn(reasonsOfCalls, type) ? (reasonsOfCalls[type] ?? 'other') : 'other';
}
