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
  /** Null: nothing is limited. */
  readonly treasury: Treasury | null;
  /** Of the holder that this workflow itself is: it needs no messages to be lent something. */
  readonly funds: Funds;
}

/** The account of a wave or of a delegation alone; null when nothing is limited. Call it before the first call. */
export function openTreasury(
  account: BudgetAccount | null,
  context: {
    readonly control: Control;
    readonly superior: Superior;
    readonly limits: RunLimits;
    readonly wave: number;
  },
  holderId: string,
): OpenedTreasury {
  if (account === null) return { treasury: null, funds: unlimitedFunds };
  const { control, superior, limits, wave } = context;
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

/** How the user's word on a spent budget ends the wave; null when it does not. */
export function endedBy(treasury: Treasury | null): 'finished' | 'abandoned' | null {
  const verdict = treasury?.verdict() ?? 'open';
  if (verdict === 'abandon') return 'abandoned';
  return verdict === 'finish_run' ? 'finished' : null;
}
