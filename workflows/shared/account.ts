import { workflowInfo } from '@temporalio/workflow';
import type {
  BudgetAccount,
  CarriedBudget,
  BudgetReply,
  BudgetNeeds,
  Spending,
} from '../../contracts/budget.ts';
import type { RunLimits } from '../../contracts/limits.ts';
import type { Delivery, QuestionsEscalation } from '../../contracts/messages.ts';
import type { AccountState, ReachedLimit } from '../../core/budget/account-terms.ts';
import { emptyNode } from '../../core/budget/budget-node.ts';
import { beginAccount, stepAccount } from '../../core/budget/step-account.ts';
import type {
  AccountCommand,
  AccountEvent,
  BudgetDecision,
} from '../../core/budget/step-account.ts';
import { noSpending, chargeOf } from '../../core/budget/spending.ts';
import { nowMs } from './clock.ts';
import type { Control } from './control.ts';
import { createBudget, superseded, unlimitedBudget } from './budget.ts';
import type { Budget } from './budget.ts';
import type { Superior } from './superior.ts';
import { budgetQuestion } from '../../core/budget/account-terms.ts';
import { createMailbox } from './messages.ts';
import { inBackground } from './background.ts';

/** Account of a wave: `core/budget` decides; this waits, asks and replies. */
export interface Account {
  /** Resolves with a reservation, or with the reason why there is none. */
  request(childId: string, request: BudgetNeeds): Promise<BudgetReply>;
  /** Frees the reservation of a child that waits for the user. */
  release(childId: string, spent: Spending): void;
  /** @param spent Null when unknown. @returns the amount that the child is charged. */
  end(childId: string, spent: Spending | null): Spending;
  verdict(): AccountState['verdict'];
  /** Calls `listener` when nothing new may start. */
  whenClosed(listener: () => void): void;
  /** Returns the budget for the rest of the run. */
  carry(): CarriedBudget;
}

interface AccountContext {
  readonly control: Control;
  readonly superior: Superior;
  readonly maxParallel: number;
  /** Returns the other fields of the question at a limit: the asker and its id. */
  readonly escalate: (
    count: number,
  ) => Omit<QuestionsEscalation, 'type' | 'kind' | 'questions' | 'delegation_id' | 'agent_id'>;
}

/** @param account What the run reserves. */
function createAccount(account: BudgetAccount, context: AccountContext): Account {
  const { control } = context;
  const isHeld = (): boolean => control.pausedReason() !== null || control.parkedReason() !== null;
  let state = beginAccount(account, {
    max_parallel: context.maxParallel,
    now: nowMs(),
    held: isHeld(),
  });
  const replies = createReplies();
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
        return replies.put(command.child_id, { reservation: command.reservation, reason: '' });
      case 'deny':
        return replies.put(command.child_id, { reservation: null, reason: command.reason });
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
      ...placeOf(limit),
      agent_id: null,
      questions: [budgetQuestion(state, limit)],
    });
    on({ type: 'answered', limit, decision: readDecision(answer?.answer ?? null) });
  };
  control.subscribe(() => on({ type: 'hold', held: isHeld() }));

  return {
    async request(child_id, { needs, spent, worked_ms, reserved }) {
      const request = replies.open(child_id);
      on({
        type: 'request',
        child_id,
        needs,
        spent,
        worked_ms,
        ...(reserved !== undefined && { reserved }),
      });
      return (await replies.take(request)) ?? superseded;
    },
    release: (child_id, spent) => on({ type: 'released', child_id, spent }),
    end(child_id, spent) {
      on({ type: 'ended', child_id, spent });
      const child = state.children.find((one) => one.child_id === child_id);
      return child === undefined ? noSpending : chargeOf(child);
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

/** Replies to requests, of which each child has one without a reply at most: its newest. */
function createReplies() {
  const mailbox = createMailbox<BudgetReply>();
  const open = new Map<string, string>();
  let requests = 0;
  const put = (childId: string, reply: BudgetReply): void => {
    const request = open.get(childId);
    open.delete(childId);
    if (request !== undefined) mailbox.put(request, reply);
  };
  return {
    put,
    /** Numbers a request of the child. @returns the id to take its reply by. */
    open(childId: string): string {
      put(childId, superseded);
      requests += 1;
      const request = String(requests);
      open.set(childId, request);
      return request;
    },
    take: (request: string) => mailbox.take(request),
  };
}

function placeOf({ scope, delegation_id }: ReachedLimit) {
  return { delegation_id, budget_scope: scope };
}

export interface OpenedAccount {
  /** Null when nothing is limited. */
  readonly account: Account | null;
  /** Budget of this workflow itself, which needs no messages. */
  readonly budget: Budget;
}

/**
 * Opens the account of a wave or of a single delegation; null when nothing is limited. Must be called before the first
 * call.
 */
export function openAccount(
  reserved: BudgetAccount | null,
  context: {
    readonly control: Control;
    readonly superior: Superior;
    readonly limits: RunLimits;
    readonly wave: number;
  },
  childId: string,
): OpenedAccount {
  if (reserved === null) return { account: null, budget: unlimitedBudget };
  const { control, superior, limits, wave } = context;
  const account = createAccount(reserved, {
    control,
    superior,
    maxParallel: limits.max_parallel,
    escalate: (count) => ({
      escalation_id: `budget-${wave}#${count}`,
      from: workflowInfo().workflowId,
      wave,
    }),
  });
  const budget = createBudget(emptyNode, {
    request: (request) => account.request(childId, request),
    onReleased: (spent) => account.release(childId, spent),
  });
  return { account, budget };
}

/** Returns the end that the user's decision on a spent budget means for the wave; null when it means none. */
export function endedBy(account: Account | null): 'finished' | 'abandoned' | null {
  const verdict = account?.verdict() ?? 'open';
  if (verdict === 'abandon') return 'abandoned';
  return verdict === 'finish_run' ? 'finished' : null;
}

/**
 * Counts the top-ups of the run's own limit that its waves and its design were given. Their accounts have them, and are gone
 * with a part that is lost.
 */
export class RunTopUps {
  /** Questions about the run's limit. */
  readonly #asked = new Set<string>();
  readonly #counts = new Map<string, number>();

  /** Notes a question about the run's limit. @returns the same escalation. */
  note(escalation: QuestionsEscalation): QuestionsEscalation {
    const { from, escalation_id, kind, budget_scope } = escalation;
    if (kind === 'budget' && budget_scope === 'run') this.#asked.add(`${from} ${escalation_id}`);
    return escalation;
  }

  /** Takes the answers that are delivered to a part. */
  hear(part: string, { escalation_id, answers }: Delivery): void {
    if (!this.#asked.delete(`${part} ${escalation_id}`)) return;
    if (readDecision(answers[0]?.answer ?? null) !== 'top_up') return;
    this.#counts.set(part, (this.#counts.get(part) ?? 0) + 1);
  }

  /** Returns the number of top-ups of a part that is lost, once. */
  take(part: string): number {
    const count = this.#counts.get(part) ?? 0;
    this.#counts.delete(part);
    return count;
  }
}

/** Reads the decision. Any answer other than to spend more or to give up ends in an orderly way. */
function readDecision(answer: string | null): BudgetDecision {
  return answer === 'top_up' || answer === 'abandon' ? answer : 'finish';
}
