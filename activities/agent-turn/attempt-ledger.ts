import type { Info } from '@temporalio/activity';
import type { ModelTurnResult } from '../../contracts/model-turn.ts';
import type { Usage } from '../../contracts/usage.ts';
import { noUsage } from '../../core/usage/add-usage.ts';
import { StoreUnavailable } from '../ports/artifact-store.ts';
import type { LedgerKey, ReplyLedger } from '../ports/reply-ledger.ts';

/** What the attempts of one activity have done so far. */
export interface Attempts {
  /** Set once a reply was recorded: it is never bought again. */
  readonly result: ModelTurnResult | null;
  /** Used by attempts that failed: they may have been billed. */
  readonly spent: Usage;
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
 * What earlier attempts left. The first attempt has nothing to look for.
 *
 * @throws StoreUnavailable: going on without knowing could buy a reply twice.
 */
export async function recallAttempts(ledger: ReplyLedger, info: Info): Promise<Attempts> {
  const entry = info.attempt > 1 ? await ledger.find(ledgerKeyOf(info)) : null;
  return isEntry(entry) ? entry : { result: null, spent: noUsage };
}

/**
 * What another activity of the same workflow run was billed. A call that is cancelled between two attempts, or whose
 * worker was killed, reports nothing itself.
 *
 * @throws StoreUnavailable
 */
export async function recallSpent(
  ledger: ReplyLedger,
  info: Info,
  activityId: string,
): Promise<Usage> {
  const entry = await ledger.find(ledgerKeyOf(info, activityId));
  return isEntry(entry) ? entry.spent : noUsage;
}

/** @throws StoreUnavailable */
export async function recordResult(
  ledger: ReplyLedger,
  info: Info,
  result: ModelTurnResult,
): Promise<void> {
  await ledger.put(ledgerKeyOf(info), { version: ledgerVersion, result, spent: result.usage });
}

/**
 * Says that an attempt is about to buy a reply. Where that can't be written, neither could the reply be kept.
 *
 * @param spent by the attempts before.
 * @throws StoreUnavailable
 */
export async function recordAttempt(ledger: ReplyLedger, info: Info, spent: Usage): Promise<void> {
  await ledger.put(ledgerKeyOf(info), { version: ledgerVersion, result: null, spent });
}

/** Remembers what a failed attempt used. Best effort: the failure itself matters more than its price. */
export async function recordSpent(ledger: ReplyLedger, info: Info, spent: Usage): Promise<void> {
  try {
    await recordAttempt(ledger, info, spent);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
  }
}

function isEntry(value: unknown): value is Attempts {
  return (
    typeof value === 'object' &&
    value !== null &&
    'version' in value &&
    value.version === ledgerVersion &&
    'result' in value &&
    'spent' in value
  );
}
