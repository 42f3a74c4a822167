import { workflowInfo } from '@temporalio/workflow';
import type { BudgetAccount } from '../../contracts/budget.ts';
import type { RunLimits } from '../../contracts/limits.ts';
import { emptyPurse } from '../../core/budget/purse.ts';
import type { Control } from './control.ts';
import { createFunds, unlimitedFunds } from './funds.ts';
import type { Funds } from './funds.ts';
import type { Superior } from './superior.ts';
import { createTreasury } from './treasury.ts';
import type { Treasury } from './treasury.ts';

export interface OpenedTreasury {
  /** Null when nothing is limited. */
  readonly treasury: Treasury | null;
  /** Funds of this workflow itself, which needs no messages for a lease. */
  readonly funds: Funds;
}

/**
 * Opens the account of a wave or of a single delegation; null when nothing is limited. Must be called before the first
 * call.
 */
export function openTreasury(
  account: BudgetAccount | null,
  desk: {
    readonly control: Control;
    readonly superior: Superior;
    readonly limits: RunLimits;
    readonly wave: number;
  },
  holderId: string,
): OpenedTreasury {
  if (account === null) return { treasury: null, funds: unlimitedFunds };
  const { control, superior, limits, wave } = desk;
  const treasury = createTreasury(account, {
    control,
    superior,
    maxParallel: limits.max_parallel,
    escalate: (count) => ({
      escalation_id: `budget-${wave}#${count}`,
      from: workflowInfo().workflowId,
      wave,
    }),
  });
  const funds = createFunds(
    emptyPurse,
    (wish) => treasury.request(holderId, wish),
    (spent) => treasury.release(holderId, spent),
  );
  return { treasury, funds };
}

/** Returns the end that the user's decision on a spent budget means for the wave; null when it means none. */
export function endedBy(treasury: Treasury | null): 'finished' | 'abandoned' | null {
  const verdict = treasury?.verdict() ?? 'open';
  if (verdict === 'abandon') return 'abandoned';
  return verdict === 'finish_run' ? 'finished' : null;
}
