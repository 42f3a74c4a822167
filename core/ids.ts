/**
 * Builds the ids of workflows, questions, facts and effects, and the names of the sources of facts and disputes. No
 * other code builds one.
 *
 * Invariants:
 *   ID1. A child's id begins with its parent's id and a slash, so that ids read as paths.
 *   ID2. Different waves, delegations, questions, facts and effects have different ids.
 *   ID3. A child's id is read back as the run, wave, delegation, task and phase that it was built from; any other id is
 *        a run's own. A phase below a task needs a run whose id has no slash, where no wave stands between them.
 */
import { triadPhases } from '../contracts/names.ts';
import type { TriadPhase } from '../contracts/triad.ts';

/** @param wave From 1. */
export function waveWorkflowId(runId: string, wave: number): string {
  return `${runId}/wave-${waveNumber(wave)}`;
}

export function designWorkflowId(runId: string): string {
  return `${runId}/design`;
}

export function riskWorkflowId(designId: string): string {
  return `${designId}/risk`;
}

export function archivalWorkflowId(runId: string): string {
  return `${runId}/archival`;
}

/** @param id Id of the notification, as `notificationId` returns it. */
export function notificationWorkflowId(runId: string, id: string): string {
  return `${runId}/${id}`;
}

/** @param stamp Tells the consultations of a run apart: a slug. */
export function consultationWorkflowId(runId: string, stamp: string): string {
  return `${runId}/ask-${stamp}`;
}

/**
 * Returns the id of the run of a cell: a run of its own, which files and commands name as any other.
 *
 * @param stamp As `evaluationStamp` returns it. @param cell From 1.
 */
export function cellRunId(evaluationId: string, stamp: string, cell: number): string {
  return `${evaluationId}-${stamp}-c${waveNumber(cell)}`;
}

/** Tells whether a run carries out a cell of the evaluation, however often that was started. */
export function isCellOf(evaluationId: string, runId: string): boolean {
  return (
    runId.startsWith(`${evaluationId}-`) &&
    /^(?:[0-9a-z]{4}-)?c\d{3,}$/.test(runId.slice(evaluationId.length + 1))
  );
}

export function delegationWorkflowId(waveId: string, delegationId: string): string {
  return `${waveId}/${delegationId}`;
}

/**
 * Returns the id of the delegation or workflow whose work this is, whether the delegation works in its wave's workflow or in
 * one of its own.
 *
 * @param delegationId Undefined for work of the planner.
 */
export function workPlace(
  workflowId: string,
  workflowType: string | undefined,
  delegationId: string | undefined,
): string {
  if (workflowType !== 'plannerWave' || delegationId === undefined) return workflowId;
  return delegationWorkflowId(workflowId, taskOwner(delegationId));
}

/** Returns the id of a task that a team's leader delegated. No slug has a dot, so the id is unique in the run. */
export function taskId(delegationId: string, name: string): string {
  return `${delegationId}.${name}`;
}

/** @returns the delegation that a task belongs to, however deep its team is; a delegation's own id unchanged. */
export function taskOwner(id: string): string {
  return id.split('.', 1)[0] ?? id;
}

/** @returns the id of a task without its delegation's id: `d2`, or `d2.d1` in a nested team; empty for a delegation. */
export function namePath(id: string): string {
  return id.slice(taskOwner(id).length + 1);
}

/**
 * Returns the parent id for the phases of a task that a triad does.
 *
 * @param place Workflow id of the delegation whose team it is. @param path As `namePath` returns it.
 */
export function taskPlace(place: string, path: string): string {
  return `${place}/${path}`;
}

/**
 * Returns the id of a task by which the solution architect of a plan decides questions, in the form of seed 003.
 *
 * @param n From 1, in the order of the wave's decisions. @param asker A delegation of the plan: its id ends in a time.
 */
export function decisionTaskId(wave: number, n: number, asker: string): string {
  return `decision_w${wave}n${n}_${/\d{10}$/.exec(asker)?.[0] ?? '0000000000'}`;
}

/** Returns true for the id of a task that decides questions. */
export function isDecisionTask(delegationId: string): boolean {
  return waveOfDecision(delegationId) !== null;
}

/** Returns the wave of a decision task, from 1; null for any other delegation. */
export function waveOfDecision(delegationId: string): number | null {
  const found = /^decision_w(\d+)n\d+_\d{10}$/.exec(delegationId);
  return found === null ? null : Number(found[1]);
}

/** @param attempt From 1; each further attempt is a workflow of its own. */
export function phaseWorkflowId(parentId: string, phase: TriadPhase, attempt: number): string {
  return attempt === 1 ? `${parentId}/${phase}` : `${parentId}/${phase}-${attempt}`;
}

/** @param n From 1, in the order of asking. */
export function questionId(n: number): string {
  return `q${n}`;
}

/** Returns the number in a question_id; 0 for an id of another form. */
export function questionNumber(id: string): number {
  const [, digits = '0'] = /^q(\d+)$/.exec(id) ?? [];
  return Number(digits);
}

/** @param n From 1, in the order of recording. */
export function factId(n: number): string {
  return `f${n}`;
}

/** @param n From 1, in the order of the delegation's calls. */
export function effectId(delegationId: string, n: number): string {
  return `${delegationId}/effect-${n}`;
}

/** Returns true for an effect of this delegation's own calls, false for one of a task below it. */
export function isEffectOf(delegationId: string, id: string): boolean {
  return id.startsWith(`${delegationId}/`);
}

/** Returns the source of a wave's fact: `wave-001/<delegation_id>`. */
export function waveSource(wave: number, delegationId: string): string {
  return `wave-${waveNumber(wave)}/${delegationId}`;
}

/** Returns the delegation that a wave's fact is from; null for any other source. */
export function delegationOfSource(source: string): string | null {
  return /^wave-\d{3,}\/([^/]+)$/.exec(source)?.[1] ?? null;
}

/** Returns the source of a fact that the planner stated in its decision. */
export function decisionSource(wave: number): string {
  return waveSource(wave, 'planner_decision');
}

/** Returns the name of one side in a dispute that a triad could not settle: `wave-001/<delegation_id>/<member>`. */
export function memberSource(wave: number, delegationId: string, member: string): string {
  return `${waveSource(wave, delegationId)}/${member}`;
}

/** Returns the subject of such a dispute. It contains slashes, which no key of a fact has. */
export function disputeKey(delegationId: string, sectionId: string): string {
  return `triad/${delegationId}/${sectionId}`;
}

/** Returns the subject of a conflict between changes of the same lines. */
export function mergeKey(delegationId: string): string {
  return `merge/${delegationId}`;
}

/** Returns `001`, `002`, …: three digits, so that listings are in order. */
export function waveNumber(wave: number): string {
  return String(wave).padStart(3, '0');
}

/** Position of a workflow: its run and its place in it. */
export interface Place {
  readonly run: string;
  /** Absent for the run itself. */
  readonly wave?: number;
  /** Absent for run and wave. */
  readonly delegation?: string;
  /** Path of names of a team's task, as in `taskPlace`. Present only for a phase of a triad that does a task. */
  readonly task?: string;
  /** Present only for a phase of a triad. */
  readonly phase?: TriadPhase;
}

/** @param workflowType Null when it is unknown: then only the id decides. */
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
  // Child of a triad or a team that was started by hand. Without its type it may be anything.
  if (workflowType !== 'triadPhase') return null;
  return place === '' ? { run: parentId } : { run: place, task };
}

/** Matches a place and a path of names. */
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
