import type {
  BudgetAccount,
  CarriedBudget,
  LeaseReply,
  LeaseWish,
  Spending,
} from '../../contracts/budget.ts';
import type { QuestionsEscalation } from '../../contracts/messages.ts';
import type { AccountState, ReachedLimit } from '../../core/budget/account-state.ts';
import { chargeOf } from '../../core/budget/account-terms.ts';
import { budgetQuestion } from '../../core/budget/budget-question.ts';
import { openAccount, stepAccount } from '../../core/budget/step-account.ts';
import type {
  AccountCommand,
  AccountEvent,
  BudgetDecision,
} from '../../core/budget/step-account.ts';
import { noSpending } from '../../core/budget/spending.ts';
import { nowMs } from './clock.ts';
import type { Control } from './control.ts';
import { unanswered } from './funds.ts';
import { inBackground } from './in-background.ts';
import { createMailbox } from './mailbox.ts';
import type { Superior } from './superior.ts';

/** Keeps the account of a wave: `core/budget` decides; this waits, asks and replies. */
export interface Treasury {
  /** Resolves with a lease, or with the reason why there is none. */
  request(holderId: string, wish: LeaseWish): Promise<LeaseReply>;
  /** Frees the lease of a holder that waits for the user. */
  release(holderId: string, spent: Spending): void;
  /** @param spent Null when unknown. @returns the amount that the holder is charged. */
  end(holderId: string, spent: Spending | null): Spending;
  verdict(): AccountState['verdict'];
  /** Calls `listener` when nothing new may start. */
  whenClosed(listener: () => void): void;
  /** Returns the budget for the rest of the run. */
  carry(): CarriedBudget;
}

export interface TreasuryContext {
  readonly control: Control;
  readonly superior: Superior;
  readonly maxParallel: number;
  /** Returns the other fields of the question at a limit: the asker and its id. */
  readonly escalate: (
    count: number,
  ) => Omit<QuestionsEscalation, 'type' | 'kind' | 'questions' | 'delegation_id' | 'agent_id'>;
}

/** @param account What the run lends. */
export function createTreasury(account: BudgetAccount, context: TreasuryContext): Treasury {
  const { control } = context;
  const isHeld = (): boolean => control.pausedReason() !== null || control.parkedReason() !== null;
  let state = openAccount(account, {
    max_parallel: context.maxParallel,
    now: nowMs(),
    held: isHeld(),
  });
  const replies = createMailbox<LeaseReply>();
  const listeners: (() => void)[] = [];
  let asked = 0;

  const on = (event: AccountEvent): void => {
    const before = state.verdict;
    const step = stepAccount(state, event, nowMs());
    state = step.state;
    for (const command of step.commands) obey(command);
    if (state.verdict !== before) for (const listener of listeners) listener();
  };
  const obey = (command: AccountCommand): void => {
    switch (command.type) {
      case 'grant':
        replies.put(command.holder_id, { lease: command.lease, reason: '' });
        return;
      case 'deny':
        replies.put(command.holder_id, { lease: null, reason: command.reason });
        return;
      case 'ask':
        inBackground(() => askUser(command.limit));
    }
  };
  const askUser = async (limit: ReachedLimit): Promise<void> => {
    asked += 1;
    const [answer] = await context.superior.ask({
      ...context.escalate(asked),
      type: 'questions',
      kind: 'budget',
      delegation_id: limit.delegation_id,
      agent_id: null,
      questions: [budgetQuestion(state, limit)],
    });
    on({ type: 'answered', limit, decision: readDecision(answer?.answer ?? null) });
  };
  control.subscribe(() => on({ type: 'hold', held: isHeld() }));

  return {
    async request(holder_id, { needs, spent, worked_ms, held }) {
      on({ type: 'wish', holder_id, needs, spent, worked_ms, ...(held !== undefined && { held }) });
      return (await replies.take(holder_id)) ?? unanswered;
    },
    release: (holder_id, spent) => on({ type: 'released', holder_id, spent }),
    end(holder_id, spent) {
      on({ type: 'ended', holder_id, spent });
      const holder = state.holders.find((one) => one.holder_id === holder_id);
      return holder === undefined ? noSpending : chargeOf(holder);
    },
    verdict: () => state.verdict,
    whenClosed: (listener) => void listeners.push(listener),
    carry: () => ({
      // A top-up of one wave's limit does not apply to the next.
      limits: { ...state.limits, wave: state.steps.wave },
      steps: state.steps,
      worked_ms: state.before_worked_ms + state.worked_ms,
    }),
  };
}

/** Reads the decision. Any answer other than a clear wish to spend more or to give up ends in an orderly way. */
function readDecision(answer: string | null): BudgetDecision {
  return answer === 'top_up' || answer === 'abandon' ? answer : 'finish';
}
