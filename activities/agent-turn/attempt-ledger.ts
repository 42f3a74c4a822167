import type { Info } from '@temporalio/activity';
import type { ModelTurnInput, ModelTurnResult } from '../../contracts/model-turn.ts';
import type { Usage } from '../../contracts/usage.ts';
import { spendingOf } from '../../core/budget/spending.ts';
import { addUsage, noUsage } from '../../core/usage/add-usage.ts';
import { stageNames } from '../../contracts/names.ts';
import { stages } from '../stages/stages.ts';
import { hashBytes } from '../text/bytes.ts';
import { StoreUnavailable, type ArtifactBatch } from '../ports/artifact-store.ts';
import type { LedgerEntry, LedgerKey, ReplyLedger } from '../ports/reply-ledger.ts';
import type { Payer } from '../ports/model-client.ts';

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

export interface AttemptEntry {
  readonly version: typeof ledgerVersion;
  /** Result as returned by the attempt. */
  readonly result: ModelTurnResult | null;
  /** Usage of this attempt alone; before its end the worst case of its request, as a reservation. */
  readonly spent: Usage;
  readonly call: KnownCall;
  /** The entry that the result was taken over from. Absent for a reply that was bought. */
  readonly from?: string;
  /** Unix epoch milliseconds by the clock of the Temporal server, which is also that of workflows. */
  readonly scheduled_at: number;
}

export interface ListedAttempt extends LedgerEntry {
  readonly value: AttemptEntry;
}

/** Place of a call in the work of a run: by it a later attempt finds its reply, and people find it. */
export interface KnownCall extends Pick<ModelTurnInput, 'agent_id' | 'stage' | 'head'> {
  /** Undefined for a call of the planner or of a design. */
  readonly delegation_id?: string | undefined;
  /** Crashes before the attempt at the delegation. */
  readonly crashes: number;
}

function callOf({ agent_id, delegation_id, stage, head, recall }: ModelTurnInput): KnownCall {
  return { agent_id, delegation_id, stage, head, crashes: recall?.count ?? 0 };
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

/** Names a call for the budget of the tenant that its run works for; undefined where it works for none. */
export function payerOf(
  info: Info,
  { refusals }: Pick<ModelTurnInput, 'refusals'>,
  worst: Usage,
): Payer | undefined {
  const tenant = info.priority?.fairnessKey ?? '';
  if (tenant === '') return undefined;
  const call = hashBytes(JSON.stringify(ledgerKeyOf(info)));
  return {
    tenant,
    call,
    attempt: info.attempt,
    worst_micro_usd: spendingOf(worst).cost_micro_usd,
    refusals,
  };
}

/**
 * Reads what the other attempts left. The first attempt has nothing to look for, unless the delegation itself is tried again.
 *
 * When two replies were bought because a worker was suspended, the earlier attempt's counts, and both are paid for.
 *
 * @throws StoreUnavailable: going on without knowing could buy a reply twice.
 */
export async function recallAttempts(
  ledger: ReplyLedger,
  info: Info,
  input: ModelTurnInput,
): Promise<Attempts> {
  const entries = info.attempt > 1 ? await findEntries(ledger, ledgerKeyOf(info)) : [];
  const spent = sumSpent(entries);
  const own = entries.find((entry) => entry.result !== null)?.result ?? null;
  const result = own ?? (await recallCrashed(ledger, info, input));
  return { result: result === null ? null : { ...result, usage: spent }, spent };
}

/**
 * Takes over the reply that a crashed attempt at the delegation got at the same point of the same conversation, each once and
 * in their order. It was paid for then.
 *
 * @returns null when the model has to be asked.
 * @throws StoreUnavailable
 */
async function recallCrashed(
  ledger: ReplyLedger,
  info: Info,
  input: ModelTurnInput,
): Promise<ModelTurnResult | null> {
  const { recall } = input;
  if (recall === undefined) return null;
  const call = callOf(input);
  const entries = await listAttempts(ledger, recall.place, recall.since);
  const known = entries.flatMap(({ key, attempt, value }) =>
    isSameCall(value.call, call)
      ? [{ ...value, crashes: value.call.crashes, id: JSON.stringify([key, attempt]) }]
      : [],
  );
  const taken = known.flatMap(({ from, crashes }) => (crashes === call.crashes ? [from] : []));
  const found = known.find(
    ({ id, result, from, crashes }) =>
      crashes < call.crashes && from === undefined && hasReply(result) && !taken.includes(id),
  );
  if (found === undefined || found.result === null) return null;
  const result = { ...found.result, usage: noUsage, recalled: true } as const;
  const entry = { version: ledgerVersion, result, spent: noUsage, from: found.id } as const;
  await put(ledger, { context: { info }, input }, entry);
  return result;
}

function isSameCall(one: KnownCall, other: KnownCall): boolean {
  return (
    one.agent_id === other.agent_id &&
    one.delegation_id === other.delegation_id &&
    one.stage === other.stage &&
    one.head === other.head
  );
}

function hasReply(result: ModelTurnResult | null): boolean {
  return result !== null && result.reply.type !== 'aborted' && result.reply.type !== 'unaffordable';
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

/** Names, because an entry of a newer version may have one that this version has no stage of. */
const besideRun: ReadonlySet<string> = new Set(
  stageNames.filter((name) => stages[name].isBesideRun),
);

/** Returns false for an answer to a user's question, which is told to whoever asked and is no work of the run. */
export function isOfRun({ call }: AttemptEntry): boolean {
  return !besideRun.has(call.stage);
}

/**
 * Adds up what all calls of a run, or of a part of it, were billed, those of executions that are gone included. What the user
 * asked the agents of its design is no part of it, although their workflows have ids below the run's.
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
  const entries = await listAttempts(ledger, place, since);
  return sumSpent(entries.map(({ value }) => value).filter(isOfRun));
}

/** Most milliseconds by which the clock of a store lags behind that of workflows. */
const clockSkewMs = 60_000;

/**
 * Lists the attempts at calls that a run, or a part of it, has scheduled since a time of its workflow.
 *
 * @throws StoreUnavailable
 */
export async function listAttempts(
  ledger: ReplyLedger,
  place: string,
  since: number,
): Promise<readonly ListedAttempt[]> {
  const entries = await ledger.list(place, since - clockSkewMs);
  return entries.flatMap((entry) => {
    const { value } = entry;
    if (!isAttemptEntry(value) || value.scheduled_at < since) return [];
    return [{ ...entry, value }];
  });
}

interface CallAttempt {
  readonly context: { readonly info: Info };
  readonly input: ModelTurnInput;
}

/**
 * @param spent usage of this attempt alone.
 * @param batch artifacts that the result refers to: they are stored with it.
 * @throws StoreUnavailable
 */
export async function recordResult(
  ledger: ReplyLedger,
  attempt: CallAttempt,
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
  attempt: CallAttempt,
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
  attempt: CallAttempt,
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
  { context: { info }, input }: CallAttempt,
  entry: Omit<AttemptEntry, 'call' | 'scheduled_at'>,
  batch?: ArtifactBatch,
): Promise<void> {
  const value = { ...entry, call: callOf(input), scheduled_at: info.scheduledTimestampMs };
  return ledger.put(ledgerKeyOf(info), info.attempt, value, batch);
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
