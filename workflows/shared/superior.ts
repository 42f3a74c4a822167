import { getExternalWorkflowHandle, setHandler, workflowInfo } from '@temporalio/workflow';
import type { ExternalWorkflowHandle } from '@temporalio/workflow';
import type { RecordedEffect } from '../../contracts/effect.ts';
import type {
  BudgetEscalation,
  DeliveredAnswer,
  Delivery,
  Escalation,
  NewsItem,
  QuestionsEscalation,
  WithdrawnEscalation,
} from '../../contracts/messages.ts';
import type { SessionReport } from '../../contracts/note.ts';
import { taskOwner } from '../../core/ids.ts';
import type { KnownEffect } from '../../core/output/check-evidence.ts';
import { checkDelivery, checkNews } from '../../core/run/read-messages.ts';
import { checkControl } from '../../core/run/check-control.ts';
import type { Control } from './control.ts';
import {
  deliverSignal,
  escalateSignal,
  informSignal,
  pauseSignal,
  resumeSignal,
  createMailbox,
} from './messages.ts';
import { NewsFeed } from './news-feed.ts';
import type { DelegationOrder } from '../../contracts/delegation-run.ts';
import type { AskedQuestion, QuestionKind } from '../../contracts/question.ts';
import type { Budget, ChildBudget } from './budget.ts';
import { inBackground, signalQuietly } from './background.ts';
import { definedOnly } from '../../core/json.ts';

/** Reason for a signal `escalate` that was sent by hand. */
export const badEscalation =
  'Signal escalate: not an escalation of a child workflow. Use answer, amend, pause, resume or stop.';

/** Superior of a workflow, which decides what it can't: its parent, or, when it was started by hand, its own inbox. */
export interface Superior {
  /** Decisions of the user and the planner since the record was written from which prompts are rendered. */
  readonly news: NewsFeed;
  /** Resolves when all questions of the escalation are answered, in their order. */
  ask(escalation: QuestionsEscalation): Promise<readonly DeliveredAnswer[]>;
  /**
   * Reports that no call can succeed at present, and resolves after a resume.
   *
   * @param until Unix epoch milliseconds at which the run goes on by itself. If undefined, never.
   */
  park(reason: string, until?: number): Promise<void>;
  /**
   * Reports that whoever asked is gone, so that the answers are not needed. Resolves when the questions are closed.
   *
   * @param delegationId If null, all questions of this workflow are closed, but for one about its budget.
   * @param escalationId If undefined, all questions of the delegation are closed.
   */
  withdraw(delegationId: string | null, escalationId?: string): Promise<void>;
  /** Records the state of an effect. Resolves when the workflow with the record has it. */
  report(effect: RecordedEffect): Promise<void>;
  reportSession(session: SessionReport): Promise<void>;
  /** Takes over effects that a child reported to the record itself. */
  know(effects: readonly KnownEffect[]): void;
  /** Shows a bad message among the rejected ones, if this workflow has such a list. */
  refuse(reason: string): void;
}

/** Returns the superior with some of its functions replaced. */
export function adaptSuperior(superior: Superior, adapted: Partial<Superior>): Superior {
  return {
    news: superior.news,
    ask: (escalation) => superior.ask(escalation),
    park: (reason, until) => superior.park(reason, until),
    withdraw: (id, escalationId) => superior.withdraw(id, escalationId),
    report: (effect) => superior.report(effect),
    reportSession: (session) => superior.reportSession(session),
    know: (effects) => superior.know(effects),
    refuse: (reason) => superior.refuse(reason),
    ...adapted,
  };
}

/**
 * Hands an escalation of a child to the workflow above it. Effects and sessions come here only where that workflow is the
 * topmost one and was started by hand.
 */
export function passOn(
  escalation: Escalation,
  superior: Superior,
  take: {
    readonly budget: (escalation: BudgetEscalation) => Promise<void>;
    readonly questions: (escalation: QuestionsEscalation) => Promise<void>;
    /** Handles one whose asker is gone. If undefined, such a message is refused. */
    readonly withdrawn?: (escalation: WithdrawnEscalation) => Promise<void>;
  },
): void {
  switch (escalation.type) {
    case 'parked':
      return inBackground(() => superior.park(escalation.reason, escalation.until));
    case 'effect':
      return inBackground(() => superior.report(escalation.effect));
    case 'session':
      return inBackground(() => superior.reportSession(escalation.session));
    case 'budget':
      return inBackground(() => take.budget(escalation));
    case 'questions':
      return inBackground(() => take.questions(escalation));
    case 'withdrawn': {
      const { withdrawn } = take;
      if (withdrawn === undefined) return superior.refuse(badEscalation);
      return inBackground(() => withdrawn(escalation));
    }
  }
}

/**
 * Creates the superior of a child: signals to its parent, and the answers to them. Must be called before the first
 * await.
 *
 * @param runId The topmost workflow, which has the record.
 * @param known The news in the order.
 */
export function createParentSuperior(
  parentId: string,
  runId: string,
  control: Control,
  known: readonly NewsItem[],
): Superior {
  const news = new NewsFeed(known);
  const parent = getExternalWorkflowHandle(parentId);
  const mailbox = createMailbox<Delivery['answers']>();
  const questions = createQuestions(parent);
  setHandler(
    deliverSignal,
    (payload) => {
      const delivery = checkDelivery(payload);
      if (delivery === null) return;
      const { escalation_id, answers, news: late = [] } = delivery;
      news.take(late);
      mailbox.put(escalation_id, answers);
    },
    { description: 'From the parent: the answers to one escalation.' },
  );
  setHandler(informSignal, (payload) => news.take(checkNews(payload)?.news ?? []), {
    description: 'From the parent: what the user and the planner have decided meanwhile.',
  });
  setHandler(
    pauseSignal,
    (payload) => {
      const { ok, reason } = checkControl(payload);
      if (ok) control.pause(reason);
    },
    { description: 'From the parent: start no new calls. {"reason":"…"}' },
  );
  setHandler(resumeSignal, () => control.resume(), { description: 'From the parent: go on. {}' });
  return {
    news,
    async ask(escalation) {
      const sent = parent.signal(escalateSignal, escalation);
      questions.track(sent);
      await sent;
      return (await mailbox.take(escalation.escalation_id)) ?? [];
    },
    async park(reason, until) {
      // Calls in flight at the same time are refused together. One report is enough, and a second could overtake the
      // resume.
      const isKnown = control.parkedReason() !== null;
      control.park(reason);
      if (!isKnown) {
        await parent.signal(escalateSignal, {
          type: 'parked',
          from: workflowInfo().workflowId,
          reason,
          ...(until !== undefined && { until }),
        });
      }
      await control.ready();
    },
    withdraw: (id, escalationId) => questions.withdraw(id, escalationId),
    report(effect) {
      const from = workflowInfo().workflowId;
      // The record contains delegations, not the tasks of a team.
      const delegation_id = taskOwner(effect.delegation_id);
      const report: Escalation = { type: 'effect', from, effect: { ...effect, delegation_id } };
      // Sent directly to the topmost workflow: the report is in its history before anything follows from it.
      return signalQuietly(() => getExternalWorkflowHandle(runId).signal(escalateSignal, report));
    },
    reportSession(session) {
      const report: Escalation = { type: 'session', from: workflowInfo().workflowId, session };
      return signalQuietly(() => getExternalWorkflowHandle(runId).signal(escalateSignal, report));
    },
    know: () => {},
    // The parent has the inbox, and it did not get the message.
    refuse: () => {},
  };
}

/**
 * Lets each question that gives budget back name the request that its asker makes next: the server may deliver two signals
 * that are under way in any order.
 */
export function nameNextRequest(superior: Superior, budget: ChildBudget): Superior {
  return adaptSuperior(superior, {
    ask: (escalation) =>
      superior.ask(
        escalation.spent === undefined
          ? escalation
          : { ...escalation, before_request: budget.nextRequest() },
      ),
  });
}

/** Takes questions to a parent back: the server may deliver two signals that are under way in any order. */
function createQuestions(
  parent: ExternalWorkflowHandle,
): Pick<Superior, 'withdraw'> & { track(sent: Promise<void>): void } {
  /** Signals with questions that are under way. */
  const sending = new Set<Promise<void>>();
  return {
    track(sent) {
      const remove = (): void => void sending.delete(sent);
      sending.add(sent);
      void sent.then(remove, remove);
    },
    withdraw(delegationId, escalationId) {
      const withdrawn: Escalation = {
        type: 'withdrawn',
        from: workflowInfo().workflowId,
        delegation_id: delegationId,
        ...(escalationId !== undefined && { escalation_id: escalationId }),
      };
      const send = (): Promise<void> => parent.signal(escalateSignal, withdrawn);
      if (sending.size === 0) return signalQuietly(send);
      return signalQuietly(() => Promise.allSettled(sending).then(send));
    },
  };
}

/** Questions of an agent or member that works on a delegation. */
interface Asking {
  /** Unique below the superior. A shared superior replaces it. */
  readonly escalation_id: string;
  readonly agent_id: string;
  readonly kind: QuestionKind;
  readonly questions: readonly AskedQuestion[];
  /** Seconds after which the default of each question is taken. If undefined, they wait. */
  readonly deadlineSeconds?: number | undefined;
}

/**
 * Puts questions to the user, and gives the rest of the reservation back for that time. Throws when the asker is cancelled
 * while it waits.
 */
export function askSuperior(
  { wave, delegation }: DelegationOrder,
  context: { readonly superior: Superior; readonly budget: Pick<Budget, 'release'> },
  { escalation_id, agent_id, kind, questions, deadlineSeconds }: Asking,
): Promise<readonly DeliveredAnswer[]> {
  const spent = context.budget.release();
  return context.superior.ask({
    type: 'questions',
    escalation_id,
    from: workflowInfo().workflowId,
    kind,
    wave,
    delegation_id: delegation.delegation_id,
    agent_id,
    questions,
    ...definedOnly({ spent, deadline_seconds: deadlineSeconds }),
  });
}

/**
 * Creates the superior of a conversation that belongs to no run: nobody is asked, nothing is recorded, and trouble that would
 * park a run ends it.
 *
 * @param fail Throws with the reason.
 */
export function nobodyAbove(fail: (reason: string) => never): Superior {
  return {
    news: new NewsFeed(),
    ask: async () => [],
    async park(reason) {
      fail(reason);
    },
    async withdraw() {},
    async report() {},
    async reportSession() {},
    know() {},
    refuse() {},
  };
}
