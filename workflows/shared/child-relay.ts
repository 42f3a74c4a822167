import { getExternalWorkflowHandle, setHandler } from '@temporalio/workflow';
import { lastNewsId } from '../../core/run/news.ts';
import type { Control, ControlChange } from './control.ts';
import {
  informSignal,
  pauseSignal,
  resumeSignal,
  deliverSignal,
  grantSignal,
  escalateSignal,
} from './messages.ts';
import type { NewsFeed } from './news-feed.ts';
import type {
  Delivery,
  Escalation,
  BudgetEscalation,
  NewsItem,
  QuestionsEscalation,
} from '../../contracts/messages.ts';
import { superseded } from './budget.ts';
import type { Budget } from './budget.ts';
import { badEscalation, passOn } from './superior.ts';
import type { Superior } from './superior.ts';
import { checkEscalation } from '../../core/run/read-escalations.ts';
import { inBackground, signalQuietly } from './background.ts';

/** Passes pauses, resumes, decisions and answers from the parent to its running children. */
export interface ChildRelay {
  /**
   * Must be called when a child has begun: messages during its start did not reach it.
   *
   * @param newsId The newest news item that it was started with; 0 for none.
   */
  welcome(childId: string, newsId: number): void;
  /** Must be called when the child has ended. */
  dismiss(childId: string): void;
  /**
   * Delivers the answers to one escalation of the child. Resolves when they have arrived, or the child has ended. They do
   * not wait for other signals: with them go the news that they may overtake.
   */
  deliver(childId: string, answered: Omit<Delivery, 'news'>): Promise<void>;
}

interface Child {
  /** The newest change of control that it has not received. */
  change: ControlChange | null;
  /** The newest news item that was sent to it. */
  newsId: number;
  /** The newest one that has arrived. */
  arrivedNewsId: number;
  isTold: boolean;
}

/**
 * Creates the relay. Signals between workflows may overtake each other, and a pause that arrives after its resume would
 * stop a child for good. So the next signal to a child is sent when the one before has arrived, and of changes of
 * control only the newest counts.
 */
export function createChildRelay(control: Control, news: NewsFeed): ChildRelay {
  const children = new Map<string, Child>();

  const send = async (childId: string, child: Child): Promise<void> => {
    const handle = getExternalWorkflowHandle(childId);
    for (;;) {
      const { change } = child;
      const fresh = news.since(child.newsId);
      if (change !== null) {
        child.change = null;
        await signalQuietly(() =>
          change.type === 'pause'
            ? handle.signal(pauseSignal, { reason: change.reason })
            : handle.signal(resumeSignal, {}),
        );
      } else if (fresh.length > 0) {
        child.newsId = lastNewsId(fresh);
        await signalQuietly(() => handle.signal(informSignal, { news: fresh }));
        child.arrivedNewsId = child.newsId;
      } else break;
    }
    child.isTold = true;
  };

  const tell = (childId: string, child: Child): void => {
    if (!child.isTold) return;
    child.isTold = false;
    inBackground(() => send(childId, child));
  };

  const tellAll = (): void => children.forEach((child, childId) => tell(childId, child));

  control.subscribe((change) => {
    for (const child of children.values()) child.change = change;
    tellAll();
  });
  news.subscribe(tellAll);

  return {
    welcome(childId, newsId) {
      const reason = control.parkedReason() ?? control.pausedReason();
      const change: ControlChange | null = reason === null ? null : { type: 'pause', reason };
      const child = { change, newsId, arrivedNewsId: newsId, isTold: true };
      children.set(childId, child);
      tell(childId, child);
    },
    dismiss(childId) {
      children.delete(childId);
    },
    deliver(childId, answered) {
      const child = children.get(childId);
      const late = child === undefined ? [] : news.since(child.arrivedNewsId);
      const delivery: Delivery = { ...answered, ...(late.length > 0 && { news: late }) };
      return signalQuietly(() =>
        getExternalWorkflowHandle(childId).signal(deliverSignal, delivery),
      );
    },
  };
}

/**
 * Relays messages between a child that spends from this workflow's budget and the workflows above: a triad's phase, or
 * the risk assessment of a design.
 */
export interface ChildEscalations {
  /** Prepares for the child's escalations. @param childId Its workflow id, before it is started. */
  expect(childId: string): void;
  /** Returns the news for the child's order. */
  news(): readonly NewsItem[];
  /** Reports that the child is running. @param newsId The newest news item of its order. */
  began(childId: string, newsId: number): void;
  ended(childId: string): void;
  /** Withdraws the questions of a child that ended without a result. */
  lost(childId: string): void;
}

export function relayEscalations({
  control,
  budget,
  escalations,
  superior,
}: {
  readonly control: Control;
  readonly budget: Pick<Budget, 'release' | 'request'>;
  readonly escalations: EscalationRouter;
  readonly superior: Superior;
}): ChildEscalations {
  const children = createChildRelay(control, superior.news);
  const lives = new Map<string, Life>();
  const askAbove = async (
    { spent, ...escalation }: QuestionsEscalation,
    life: Life,
  ): Promise<void> => {
    if (life.isOver) return;
    const given = spent === undefined ? undefined : budget.release(spent);
    const { from, escalation_id, delegation_id } = escalation;
    life.waits.set(escalation_id, delegation_id);
    const answers = await superior.ask({
      ...escalation,
      ...(given !== undefined && { spent: given }),
    });
    // The answers would reach the next child of the id, or none.
    if (life.isOver) return;
    life.waits.delete(escalation_id);
    await children.deliver(from, { escalation_id, answers });
  };

  const reserve = async ({ from: to, request_id, ...request }: BudgetEscalation): Promise<void> => {
    const grant = await budget.request(request);
    if (grant === superseded) return;
    const { reservation, reason } = grant;
    const payload = { request_id, reservation, reason };
    await signalQuietly(() => getExternalWorkflowHandle(to).signal(grantSignal, payload));
  };

  return {
    expect(id) {
      const life: Life = { isOver: false, waits: new Map() };
      lives.set(id, life);
      escalations.register(id, (one) =>
        passOn(one, superior, {
          budget: reserve,
          questions: (asked) => askAbove(asked, life),
        }),
      );
    },
    news: () => superior.news.all(),
    began: (id, newsId) => children.welcome(id, newsId),
    ended(id) {
      children.dismiss(id);
      const life = lives.get(id);
      if (life !== undefined) life.isOver = true;
    },
    lost(id) {
      for (const [escalationId, delegationId] of lives.get(id)?.waits ?? []) {
        inBackground(() => superior.withdraw(delegationId, escalationId));
      }
    },
  };
}

/** One start of a child. The child that is started after a lost one has its workflow id, and numbers its questions alike. */
interface Life {
  isOver: boolean;
  /** delegation_ids of the questions that it waits for, by their escalation_ids. */
  readonly waits: Map<string, string | null>;
}

/** Routes escalations of children to the code that started them: one workflow may run several triads. */
export interface EscalationRouter {
  /** Must be called before the child is started: its first message may arrive before the confirmation of its start. */
  register(childId: string, take: (escalation: Escalation) => void): void;
}

/**
 * Creates the router, which handles the signal for the whole workflow. Must be called before the first await. A question
 * that the next request of its asker has overtaken comes without `spent`.
 *
 * @param refuse Called with a message that is no escalation, or of an unregistered child.
 * @param takeUnknown Called with an escalation of an unregistered workflow. If undefined, it is refused.
 */
export function createEscalationRouter(
  refuse: (reason: string) => void,
  takeUnknown: (escalation: Escalation) => void = () => refuse(badEscalation),
): EscalationRouter {
  const children = new Map<string, (escalation: Escalation) => void>();
  const dropOvertaken = createReleaseFilter();
  setHandler(
    escalateSignal,
    (payload) => {
      const escalation = checkEscalation(payload);
      if (escalation === null) return refuse(badEscalation);
      (children.get(escalation.from) ?? takeUnknown)(dropOvertaken(escalation));
    },
    { description: 'From a child: a question or a fault. Not for people.' },
  );
  return { register: (childId, take) => void children.set(childId, take) };
}

/** Creates a filter for escalations as they arrive. What a question gives back was granted anew if the request it names came first. */
function createReleaseFilter(): (escalation: Escalation) => Escalation {
  /** request_ids that have arrived. */
  const requested = new Set<string>();
  return (escalation) => {
    if (escalation.type === 'budget') requested.add(escalation.request_id);
    if (escalation.type !== 'questions') return escalation;
    const { spent, before_request = '', ...question } = escalation;
    const isGiven = spent !== undefined && !requested.has(before_request);
    return isGiven ? { ...question, spent } : question;
  };
}
