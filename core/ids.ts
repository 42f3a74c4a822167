/**
 * The ids of workflows and questions. Nothing else builds an id.
 *
 * Invariants:
 *   ID1. A child's id begins with its parent's id and a slash, so that ids read as paths.
 *   ID2. Different waves, delegations and questions have different ids.
 */

/** @param wave From 1. */
export function waveWorkflowId(runId: string, wave: number): string {
  return `${runId}/wave-${String(wave).padStart(3, '0')}`;
}

export function delegationWorkflowId(waveId: string, delegationId: string): string {
  return `${waveId}/${delegationId}`;
}

/** @param n From 1, in the order of asking. */
export function questionId(n: number): string {
  return `q${n}`;
}
