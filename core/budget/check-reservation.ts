/**
 * Messages about leases, as a hand may imitate them.
 *
 * Invariants:
 *   LM1. No payload throws; what no workflow of ours sends gives null.
 */
import type { Reservation, BudgetGrant, BudgetRequest, Spending } from '../../contracts/budget.ts';
import { isRecord } from '../is-record.ts';

export function checkBudgetRequest(payload: unknown): BudgetRequest | null {
  if (!isRecord(payload)) return null;
  const { request_id, worked_ms } = payload;
  const needs = readSpending(payload['needs']);
  const spent = readSpending(payload['spent']);
  const reserved = readSpending(payload['reserved']);
  if (typeof request_id !== 'string' || !isAmount(worked_ms)) return null;
  if (needs === null || spent === null) return null;
  return { request_id, needs, spent, worked_ms, ...(reserved !== null && { reserved }) };
}

export function checkBudgetGrant(payload: unknown): BudgetGrant | null {
  if (!isRecord(payload)) return null;
  const { request_id, reason, reservation } = payload;
  if (typeof request_id !== 'string' || typeof reason !== 'string') return null;
  if (reservation === null) return { request_id, reservation, reason };
  const read = readReservation(reservation);
  return read === null ? null : { request_id, reservation: read, reason };
}

/** @returns null when it is none. */
export function readSpending(value: unknown): Spending | null {
  if (!isRecord(value)) return null;
  const { calls, tokens, cost_micro_usd } = value;
  if (!isAmount(calls) || !isAmount(tokens) || !isAmount(cost_micro_usd)) return null;
  return { calls, tokens, cost_micro_usd };
}

function readReservation(value: unknown): Reservation | null {
  if (!isRecord(value)) return null;
  const { calls, tokens, cost_micro_usd, until } = value;
  if (!isLimit(calls) || !isLimit(tokens) || !isLimit(cost_micro_usd) || !isLimit(until))
    return null;
  return { calls, tokens, cost_micro_usd, until };
}

function isLimit(value: unknown): value is number | null {
  return value === null || isAmount(value);
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
