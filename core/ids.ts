/**
 * The ids of workflows, questions and facts, and the names of what facts come from. Nothing else builds one.
 *
 * Invariants:
 *   ID1. A child's id begins with its parent's id and a slash, so that ids read as paths.
 *   ID2. Different waves, delegations, questions and facts have different ids.
 */

/** @param wave From 1. */
export function waveWorkflowId(runId: string, wave: number): string {
  return `${runId}/wave-${waveNumber(wave)}`;
}

export function delegationWorkflowId(waveId: string, delegationId: string): string {
  return `${waveId}/${delegationId}`;
}

/** @param n From 1, in the order of asking. */
export function questionId(n: number): string {
  return `q${n}`;
}

/** @param n From 1, in the order of recording. */
export function factId(n: number): string {
  return `f${n}`;
}

/** Where a fact of a wave comes from: `wave-001/<delegation_id>`. */
export function waveSource(wave: number, delegationId: string): string {
  return `wave-${waveNumber(wave)}/${delegationId}`;
}

/** Where a fact comes from that the planner stated in its decision. */
export function decisionSource(wave: number): string {
  return waveSource(wave, 'planner_decision');
}

/** `001`, `002`, …: three digits, so that a listing is in order. */
export function waveNumber(wave: number): string {
  return String(wave).padStart(3, '0');
}
