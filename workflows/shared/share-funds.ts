import { emptyPurse } from '../../core/budget/purse.ts';
import { spendInTurn } from './funds.ts';
import type { Funds } from './funds.ts';

/** What a member may spend of the funds that it shares. */
export interface MemberFunds extends Funds {
  /** It makes no call before others have worked for it: then who asks may give all back. Its next call ends that. */
  rest(): void;
  /** Its work is over: what it was lent and did not spend is free again. */
  close(): void;
}

/** One purse for all who work on a delegation. Together they never spend more than it was leased. */
export interface SharedFunds {
  /** For a conversation in this workflow. */
  forCalls(): MemberFunds;
  /** For whoever starts children: they spend from leases. */
  forChildren(): MemberFunds;
}

export function shareFunds(funds: Funds): SharedFunds {
  const inTurn = spendInTurn(funds);
  const none = { rest: () => {}, close: () => {} };
  return {
    forCalls: () => ({ ...inTurn, ...none }),
    forChildren: () => ({
      ...inTurn,
      ...none,
      carry: () => (funds.carry() === null ? null : emptyPurse),
    }),
  };
}
