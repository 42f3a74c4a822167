/**
 * Reads messages that our workflows send each other, and that people may imitate by hand.
 *
 * Invariants:
 *   WM1. No payload throws, whatever its shape.
 *   WM2. A payload that no workflow of ours sends gives null; one of ours is returned with its known fields.
 */
import type {
  DeliveredAnswer,
  Delivery,
  PlannedDelegation,
  WaveProgress,
} from '../../contracts/messages.ts';
import type { PlanFinding } from '../../contracts/coordination-plan.ts';
import type { DesignProgress } from '../../contracts/design-run.ts';
import type { DesignMaterial } from '../../contracts/design.ts';
import { designStageNames } from '../../contracts/names.ts';
import type { ExecutorKind, PlannedExecutor } from '../../contracts/executor.ts';
import type { TriadType } from '../../contracts/triad.ts';
import { readUsage } from '../usage/add-usage.ts';
import { isRecord } from '../is-record.ts';

/** Reads the progress that a wave reports to its run. */
export function checkProgress(payload: unknown): WaveProgress | null {
  if (!isRecord(payload)) return null;
  const { wave, plan_ref, summary } = payload;
  const delegations = readList(payload['delegations'], readPlanned);
  const criterion_ids = readList(payload['criterion_ids'], readText);
  const usage = readUsage(payload['usage']);
  if (typeof wave !== 'number' || !Number.isInteger(wave) || wave < 1) return null;
  if (typeof plan_ref !== 'string' || !/^[0-9a-f]{64}$/.test(plan_ref)) return null;
  if (typeof summary !== 'string' || delegations === null) return null;
  if (criterion_ids === null || usage === null) return null;
  return { wave, plan_ref, summary, delegations, criterion_ids, usage };
}

/** Reads the progress that a design reports to its run. */
export function checkDesigned(payload: unknown): DesignProgress | null {
  if (!isRecord(payload)) return null;
  const { status, approved_by } = payload;
  const materials = readList(payload['materials'], readMaterial);
  const plan_refs = readList(payload['plan_refs'], readRef);
  const findings = readList(payload['findings'], readFinding);
  const usage = readUsage(payload['usage']);
  if (status !== 'designing' || !isTextOrNull(approved_by)) return null;
  if (materials === null || plan_refs === null || findings === null || usage === null) return null;
  return { status, approved_by, materials, plan_refs, findings, usage };
}

function readMaterial(value: unknown): DesignMaterial | null {
  if (!isRecord(value)) return null;
  const { subject } = value;
  const stage = designStageNames.find((one) => one === value['stage']);
  const ref = readRef(value['ref']);
  if (stage === undefined || ref === null || !isTextOrNull(subject)) return null;
  return { stage, subject, ref };
}

function readFinding(value: unknown): PlanFinding | null {
  if (!isRecord(value)) return null;
  const { rule, path, message, cure } = value;
  if (typeof rule !== 'string' || typeof path !== 'string') return null;
  if (typeof message !== 'string' || typeof cure !== 'string') return null;
  return { rule, path, message, cure };
}

function readRef(value: unknown): string | null {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value) ? value : null;
}

/** Reads the answers that a parent delivers to the child that asked. */
export function checkDelivery(payload: unknown): Delivery | null {
  if (!isRecord(payload)) return null;
  const { escalation_id } = payload;
  const answers = readList(payload['answers'], readDelivered);
  if (typeof escalation_id !== 'string' || answers === null) return null;
  return { escalation_id, answers };
}

function readPlanned(value: unknown): PlannedDelegation | null {
  if (!isRecord(value)) return null;
  const { delegation_id, agent_id, title } = value;
  const depends_on = readList(value['depends_on'], readText);
  if (typeof delegation_id !== 'string' || typeof agent_id !== 'string') return null;
  const executor = readExecutor(value['executor']);
  if (typeof title !== 'string' || depends_on === null || executor === null) return null;
  return { delegation_id, agent_id, title, depends_on, executor };
}

function readExecutor(value: unknown): PlannedExecutor | null {
  return isRecord(value) && isKind(value['kind']) ? readers[value['kind']](value) : null;
}

function isKind(kind: unknown): kind is ExecutorKind {
  return typeof kind === 'string' && Object.hasOwn(readers, kind);
}

const readers: Readonly<
  Record<ExecutorKind, (value: Readonly<Record<string, unknown>>) => PlannedExecutor | null>
> = {
  agent: () => ({ kind: 'agent' }),
  triad(value) {
    const type = readTriadType(value['type']);
    return type === null ? null : { kind: 'triad', type };
  },
  team({ team_id }) {
    return isTextOrNull(team_id) ? { kind: 'team', team_id } : null;
  },
};

/** As `TriadType` in the contracts, which zod keeps out of here. */
function readTriadType(value: unknown): TriadType | null {
  return value === 'hierarchical' || value === 'dialectic' || value === 'consensus' ? value : null;
}

function readDelivered(value: unknown): DeliveredAnswer | null {
  if (!isRecord(value)) return null;
  const { question_id, text, answer, answer_ref, answered_by, loop } = value;
  if (typeof question_id !== 'string' || typeof text !== 'string') return null;
  if (!isTextOrNull(answer) || !isTextOrNull(answer_ref)) return null;
  if (typeof answered_by !== 'string' || typeof loop !== 'boolean') return null;
  return { question_id, text, answer, answer_ref, answered_by, loop };
}

/** @returns null when the value is no list, or one entry is invalid. */
function readList<T>(value: unknown, read: (entry: unknown) => T | null): T[] | null {
  if (!Array.isArray(value)) return null;
  const entries = value.map(read).filter((entry) => entry !== null);
  return entries.length === value.length ? entries : null;
}

function readText(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}
