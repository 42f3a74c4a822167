/**
 * The ids of workflows, questions, facts and effects, and the names of what facts and disputes come from. Nothing else
 * builds one.
 *
 * Invariants:
 *   ID1. A child's id begins with its parent's id and a slash, so that ids read as paths.
 *   ID2. Different waves, delegations, questions, facts and effects have different ids.
 *   ID3. A child's id is read back as the run, wave, delegation, task and phase that it was built of; any other id is a run's
 *        own. A phase below a task needs a run whose id has no slash, where no wave stands between them.
 */
import { triadPhases } from '../contracts/names.ts';
import type { TriadPhase } from '../contracts/triad.ts';

/** @param wave From 1. */
export function waveWorkflowId(runId: string, wave: number): string {
  return `${runId}/wave-${waveNumber(wave)}`;
}

export function delegationWorkflowId(waveId: string, delegationId: string): string {
  return `${waveId}/${delegationId}`;
}

/** A task that the leader of a team gave out. No slug has a dot, so it is unique in the run. */
export function taskId(delegationId: string, name: string): string {
  return `${delegationId}.${name}`;
}

/** @returns the delegation that a task is a part of, however deep its team is; a delegation's own id as it is. */
export function taskOwner(id: string): string {
  return id.split('.', 1)[0] ?? id;
}

/** @returns the id of a task without that of its delegation: `d2`, or `d2.d1` in a team below; empty for a delegation. */
export function namePath(id: string): string {
  return id.slice(taskOwner(id).length + 1);
}

/**
 * Where the phases of a task are that a triad does.
 *
 * @param place Of the delegation whose team it is. @param path As `namePath` gives it.
 */
export function taskPlace(place: string, path: string): string {
  return `${place}/${path}`;
}

/** @param attempt From 1; a further attempt is a workflow of its own. */
export function phaseWorkflowId(parentId: string, phase: TriadPhase, attempt: number): string {
  return attempt === 1 ? `${parentId}/${phase}` : `${parentId}/${phase}-${attempt}`;
}

/** @param n From 1, in the order of asking. */
export function questionId(n: number): string {
  return `q${n}`;
}

/** @param n From 1, in the order of recording. */
export function factId(n: number): string {
  return `f${n}`;
}

/** @param n From 1, in the order of the delegation's calls. */
export function effectId(delegationId: string, n: number): string {
  return `${delegationId}/effect-${n}`;
}

/** Whether a call of this delegation made it, and not one of a task below it. */
export function isEffectOf(delegationId: string, id: string): boolean {
  return id.startsWith(`${delegationId}/`);
}

/** Where a fact of a wave comes from: `wave-001/<delegation_id>`. */
export function waveSource(wave: number, delegationId: string): string {
  return `wave-${waveNumber(wave)}/${delegationId}`;
}

/** Where a fact comes from that the planner stated in its decision. */
export function decisionSource(wave: number): string {
  return waveSource(wave, 'planner_decision');
}

/** Who takes a side in a dispute that a triad could not settle: `wave-001/<delegation_id>/<member>`. */
export function memberSource(wave: number, delegationId: string, member: string): string {
  return `${waveSource(wave, delegationId)}/${member}`;
}

/** What such a dispute is about. It has slashes, which no key of a fact has. */
export function disputeKey(delegationId: string, sectionId: string): string {
  return `triad/${delegationId}/${sectionId}`;
}

/** `001`, `002`, …: three digits, so that a listing is in order. */
export function waveNumber(wave: number): string {
  return String(wave).padStart(3, '0');
}

/** Where in which run a workflow is. */
export interface Place {
  readonly run: string;
  /** Absent for the run itself. */
  readonly wave?: number;
  /** Absent for run and wave. */
  readonly delegation?: string;
  /** The path of names of a team's task, as in `taskPlace`. Absent for all but a phase of a triad that does one. */
  readonly task?: string;
  /** Absent for all but a phase of a triad. */
  readonly phase?: TriadPhase;
}

/** @param workflowType If null, it is not known: the id alone has to say. */
export function readPlace(workflowId: string, workflowType: string | null): Place {
  if (workflowType === 'plannerRun') return { run: workflowId };
  const [, parentId = '', name = ''] = /^(.+)\/([a-z]+)(?:-\d+)?$/s.exec(workflowId) ?? [];
  const phase = triadPhases.find((one) => one === name);
  if (phase !== undefined && workflowType !== 'plannerWave' && workflowType !== 'delegation') {
    const place = readPhaseParent(parentId, workflowType);
    if (place !== null) return { ...place, phase };
  }
  return readDelegation(workflowId, workflowType);
}

/** @returns null when it is no parent of a phase. */
function readPhaseParent(parentId: string, workflowType: string | null): Place | null {
  const own = readDelegation(parentId, null);
  if (own.delegation !== undefined) return own;
  const [, place = '', task = ''] = taskPlacePattern.exec(parentId) ?? [];
  const above = readDelegation(place, null);
  if (above.delegation !== undefined) return { ...above, task };
  // Below a triad or a team that was started by hand. Without its type it may be anything.
  if (workflowType !== 'triadPhase') return null;
  return place === '' ? { run: parentId } : { run: place, task };
}

/** A place and a path of names. */
const taskPlacePattern = /^(.+)\/([a-z0-9][a-z0-9_-]*(?:\.[a-z0-9][a-z0-9_-]*)*)$/s;

function readDelegation(workflowId: string, workflowType: string | null): Place {
  const match = /^(.+)\/wave-(\d{3,})(?:\/([a-z0-9][a-z0-9_-]*))?$/s.exec(workflowId);
  if (match === null) return { run: workflowId };
  const [, run = '', wave = '', delegation] = match;
  // A wave or a delegation that was started by hand may have any id.
  const isChild =
    workflowType === null || (workflowType === 'delegation') === (delegation !== undefined);
  if (!isChild) return { run: workflowId };
  const place = { run, wave: Number(wave) };
  return delegation === undefined ? place : { ...place, delegation };
}
