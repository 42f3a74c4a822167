import type {
  BudgetAccount,
  CarriedBudget,
  LeaseReply,
  LeaseWish,
  Spending,
} from '../../contracts/budget.ts';
import type { QuestionsEscalation } from '../../contracts/messages.ts';
import type { AccountState, ReachedLimit } from '../../core/budget/account-state.ts';
import { budgetQuestion } from '../../core/budget/budget-question.ts';
import { openAccount, stepAccount } from '../../core/budget/step-account.ts';
import type {
  AccountCommand,
  AccountEvent,
  BudgetDecision,
} from '../../core/budget/step-account.ts';
import { nowMs } from './clock.ts';
import type { Control } from './control.ts';
import { unanswered } from './funds.ts';
import { inBackground } from './in-background.ts';
import { createMailbox } from './mailbox.ts';
import type { Superior } from './superior.ts';

/** Keeps the account of a wave: `core/budget` decides, this waits, asks and tells. */
export interface Treasury {
  /** Resolves with a lease, or with why there is none any more. */
  request(holderId: string, wish: LeaseWish): Promise<LeaseReply>;
  /** It waits for the user. */
  release(holderId: string, spent: Spending): void;
  /** @param spent null when nobody knows. */
  end(holderId: string, spent: Spending | null): void;
  verdict(): AccountState['verdict'];
  /** Calls `listener` when nothing new may start any more. */
  whenClosed(listener: () => void): void;
  /** What the run goes on with. */
  carry(): CarriedBudget;
}

export interface TreasuryContext {
  readonly control: Control;
  readonly superior: Superior;
  readonly maxParallel: number;
  /** The rest of the question at a limit: who asks, and under which id. */
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
    end: (holder_id, spent) => on({ type: 'ended', holder_id, spent }),
    verdict: () => state.verdict,
    whenClosed: (listener) => void listeners.push(listener),
    carry: () => ({
      // What was added to one wave's limit is not for the next.
      limits: { ...state.limits, wave: state.steps.wave },
      steps: state.steps,
      worked_ms: state.before_worked_ms + state.worked_ms,
    }),
  };
}

/** Anything but a clear wish to spend more or to give up ends in an orderly way. */
function readDecision(answer: string | null): BudgetDecision {
  return answer === 'top_up' || answer === 'abandon' ? answer : 'finish';
}
