import type { Info } from '@temporalio/activity';
import type { ModelTurnInput, ModelTurnResult } from '../../contracts/model-turn.ts';
import type { Usage } from '../../contracts/usage.ts';
import { addUsage, noUsage } from '../../core/usage/add-usage.ts';
import { StoreUnavailable } from '../ports/artifact-store.ts';
import type { ArtifactBatch } from '../ports/artifact-store.ts';
import type { LedgerKey, ReplyLedger } from '../ports/reply-ledger.ts';
import type { ModelAborted, ModelReply, ModelRequest } from '../ports/model-client.ts';
import type { AgentTurnDeps } from './deps.ts';

/** The work of all attempts at one activity so far. */
export interface Attempts {
  /** Set once a reply was recorded: it is never bought again. Its usage is that of all attempts. */
  readonly result: ModelTurnResult | null;
  /**
   * Usage of all attempts: those that failed may have been billed too. One that has not reported its end is charged its
   * reservation.
   */
  readonly spent: Usage;
}

/** The agent and the work of a call, for people who look at a run. */
export interface CallNote {
  readonly agent_id: string;
  /** Null for the planner and for an agent of a design. */
  readonly delegation_id: string | null;
  readonly stage: ModelTurnInput['stage'];
}

/** The ledger entry of one attempt. */
export interface AttemptEntry {
  readonly version: typeof ledgerVersion;
  /** Result as returned by the attempt. */
  readonly result: ModelTurnResult | null;
  /** Usage of this attempt alone; before its end the worst case of its request, as a reservation. */
  readonly spent: Usage;
  /** Absent in entries of a planwave that did not write it. */
  readonly call?: CallNote;
}

const ledgerVersion = 1;

function ledgerKeyOf(info: Info, activityId = info.activityId): LedgerKey {
  return {
    // An activity that no workflow started has ids of its own.
    workflow_id: info.workflowExecution?.workflowId ?? '',
    run_id: info.workflowExecution?.runId ?? info.activityRunId ?? '',
    activity_id: activityId,
  };
}

/**
 * Reads what the other attempts left. The first attempt has nothing to look for.
 *
 * Of two replies, bought because a worker that had one was suspended, the earlier attempt's counts, and both are paid for.
 *
 * @throws StoreUnavailable: going on without knowing could buy a reply twice.
 */
export async function recallAttempts(ledger: ReplyLedger, info: Info): Promise<Attempts> {
  const entries = info.attempt > 1 ? await findEntries(ledger, ledgerKeyOf(info)) : [];
  const spent = sumSpent(entries);
  const result = entries.find((entry) => entry.result !== null)?.result ?? null;
  return { result: result === null ? null : { ...result, usage: spent }, spent };
}

/**
 * Adds up what another activity of the same workflow run was billed. A call that is cancelled between two attempts, or whose
 * worker was killed, reports nothing itself.
 *
 * @throws StoreUnavailable
 */
export async function recallSpent(
  ledger: ReplyLedger,
  info: Info,
  activityId: string,
): Promise<Usage> {
  return sumSpent(await findEntries(ledger, ledgerKeyOf(info, activityId)));
}

/**
 * Adds up what all calls of a run, or of a part of it, were billed, those of executions that are gone included.
 *
 * @param place workflow id of the run or the part.
 * @param since Unix epoch milliseconds.
 * @throws StoreUnavailable
 */
export async function recallRunSpent(
  ledger: ReplyLedger,
  place: string,
  since: number,
): Promise<Usage> {
  const entries = await ledger.list(place, since);
  return sumSpent(entries.map(({ value }) => value).filter(isAttemptEntry));
}

/** An attempt as the ledger names it, and its work. */
export interface NotedAttempt {
  readonly info: Info;
  readonly call: CallNote;
}

export function noteCall(
  info: Info,
  { agent_id, delegation_id, stage }: ModelTurnInput,
): NotedAttempt {
  return { info, call: { agent_id, delegation_id: delegation_id ?? null, stage } };
}

/**
 * @param spent usage of this attempt alone.
 * @param batch artifacts that the result refers to: they are stored with it.
 * @throws StoreUnavailable
 */
export async function recordResult(
  ledger: ReplyLedger,
  attempt: NotedAttempt,
  result: ModelTurnResult,
  spent: Usage,
  batch: ArtifactBatch,
): Promise<void> {
  await put(ledger, attempt, { version: ledgerVersion, result, spent }, batch);
}

/**
 * Reserves what a request may use at worst, right before it is sent. An attempt that is killed before its end is known
 * has used all of it. If the reservation can't be written, the reply could not be kept either.
 *
 * @throws StoreUnavailable
 */
export async function reserveAttempt(
  ledger: ReplyLedger,
  attempt: NotedAttempt,
  worst: Usage,
): Promise<void> {
  await put(ledger, attempt, { version: ledgerVersion, result: null, spent: worst });
}

/**
 * Replaces the reservation of a failed attempt by what it used. Best effort: the failure itself matters more than its
 * price, and a reservation that stays is never too little.
 */
export async function recordSpent(
  ledger: ReplyLedger,
  attempt: NotedAttempt,
  spent: Usage,
): Promise<void> {
  try {
    await put(ledger, attempt, { version: ledgerVersion, result: null, spent });
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
  }
}

function put(
  ledger: ReplyLedger,
  { info, call }: NotedAttempt,
  entry: Omit<AttemptEntry, 'call'>,
  batch?: ArtifactBatch,
): Promise<void> {
  return ledger.put(ledgerKeyOf(info), info.attempt, { ...entry, call }, batch);
}

async function findEntries(ledger: ReplyLedger, key: LedgerKey): Promise<readonly AttemptEntry[]> {
  return (await ledger.find(key)).filter(isAttemptEntry);
}

function sumSpent(entries: readonly AttemptEntry[]): Usage {
  return entries.reduce((sum, { spent }) => addUsage(sum, spent), noUsage);
}

export function isAttemptEntry(value: unknown): value is AttemptEntry {
  return (
    typeof value === 'object' &&
    value !== null &&
    'version' in value &&
    value.version === ledgerVersion &&
    'result' in value &&
    'spent' in value
  );
}

export type Pricing = Pick<AgentTurnDeps, 'computeUsage' | 'computeWorst'>;

/** Returns the usage of a call with a reply. A reply without counts may have used as much as the worst case. */
export function usageOfAnswer(
  { computeUsage, computeWorst }: Pricing,
  request: ModelRequest,
  { model, tokens }: Pick<ModelReply, 'model' | 'tokens'>,
): Usage {
  if (tokens !== null) return computeUsage({ requested: request.model, answered: model }, tokens);
  return { ...computeWorst(request), calls: 1, unpriced_calls: 1, unreported_calls: 0 };
}

/** Returns the usage of a cancelled call. One whose reply had not begun may have been billed. */
export function usageOfAbort(
  { computeUsage, computeWorst }: Pricing,
  request: ModelRequest,
  { model, tokens }: Pick<ModelAborted, 'model' | 'tokens'>,
): Usage {
  if (tokens === null) return computeWorst(request);
  return computeUsage({ requested: request.model, answered: model }, tokens);
}
