import { getExternalWorkflowHandle, setHandler, workflowInfo } from '@temporalio/workflow';
import type { RecordedEffect } from '../../contracts/effect.ts';
import type {
  DeliveredAnswer,
  Delivery,
  Escalation,
  NewsItem,
  QuestionsEscalation,
} from '../../contracts/messages.ts';
import type { SessionReport } from '../../contracts/note.ts';
import { taskOwner } from '../../core/ids.ts';
import type { KnownEffect } from '../../core/output/check-evidence.ts';
import { checkDelivery, checkNews } from '../../core/run/read-messages.ts';
import { checkControl } from '../../core/run/check-control.ts';
import type { Control } from './control.ts';
import { inBackground } from './in-background.ts';
import { createMailbox } from './mailbox.ts';
import {
  deliverSignal,
  escalateSignal,
  informSignal,
  pauseSignal,
  resumeSignal,
} from './messages.ts';
import { NewsFeed } from './news-feed.ts';
import { signalQuietly } from './signal-quietly.ts';

/** Reason for a signal `escalate` that was sent by hand. */
export const badEscalation =
  'Signal escalate: not an escalation of a child workflow. Use answer, amend, pause, resume or stop.';

/** Superior of a workflow, which decides what it can't: its parent, or, when it was started by hand, its own inbox. */
export interface Superior {
  /** Decisions of the user and the planner since the record was written from which prompts are rendered. */
  readonly news: NewsFeed;
  /** Resolves when all questions of the escalation are answered, in their order. */
  ask(escalation: QuestionsEscalation): Promise<readonly DeliveredAnswer[]>;
  /** Reports that no call can succeed at present, and resolves after a resume. */
  park(reason: string): Promise<void>;
  /** Reports that a delegation with questions is gone, so that the answers are not needed. */
  withdraw(delegationId: string): void;
  /** Records the state of an effect. Resolves when the workflow with the record has it. */
  report(effect: RecordedEffect): Promise<void>;
  /** Records the session of a delegation. */
  reportSession(session: SessionReport): Promise<void>;
  /** Takes over effects that a child reported to the record itself. */
  know(effects: readonly KnownEffect[]): void;
  /** Shows a bad message among the rejected ones, if this workflow has such a list. */
  refuse(reason: string): void;
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
  setHandler(
    deliverSignal,
    (payload) => {
      const delivery = checkDelivery(payload);
      if (delivery !== null) mailbox.put(delivery.escalation_id, delivery.answers);
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
      await parent.signal(escalateSignal, escalation);
      return (await mailbox.take(escalation.escalation_id)) ?? [];
    },
    async park(reason) {
      // Calls in flight at the same time are refused together. One report is enough, and a second could overtake the
      // resume.
      const isKnown = control.parkedReason() !== null;
      control.park(reason);
      if (!isKnown) {
        await parent.signal(escalateSignal, {
          type: 'parked',
          from: workflowInfo().workflowId,
          reason,
        });
      }
      await control.ready();
    },
    withdraw(delegationId) {
      const from = workflowInfo().workflowId;
      const withdrawn: Escalation = { type: 'withdrawn', from, delegation_id: delegationId };
      inBackground(() => signalQuietly(() => parent.signal(escalateSignal, withdrawn)));
    },
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
