import { getExternalWorkflowHandle, setHandler, workflowInfo } from '@temporalio/workflow';
import type { RecordedEffect } from '../../contracts/effect.ts';
import type {
  DeliveredAnswer,
  Delivery,
  Escalation,
  NewsItem,
  QuestionsEscalation,
} from '../../contracts/messages.ts';
import { taskOwner } from '../../core/ids.ts';
import type { KnownEffect } from '../../core/output/check-claimed-effects.ts';
import { checkDelivery } from '../../core/run/check-child-messages.ts';
import { checkControl } from '../../core/run/check-control.ts';
import { checkNews } from '../../core/run/news.ts';
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

/** What is said of a signal `escalate` that came from a hand. */
export const badEscalation =
  'Signal escalate: not an escalation of a child workflow. Use answer, amend, pause, resume or stop.';

/** Who decides what this workflow can't: its parent, or, when it was started by hand, its own inbox. */
export interface Superior {
  /** What the user and the planner have decided since the record was written that prompts are rendered from. */
  readonly news: NewsFeed;
  /** Resolves when all questions of the escalation are answered, in their order. */
  ask(escalation: QuestionsEscalation): Promise<readonly DeliveredAnswer[]>;
  /** Reports that no call can succeed for now, and resolves when somebody resumed. */
  park(reason: string): Promise<void>;
  /** A delegation that had asked is gone: nobody needs the answers any more. */
  withdraw(delegationId: string): void;
  /** Records how far an effect has come. Resolves when the workflow with the record has it. */
  report(effect: RecordedEffect): Promise<void>;
  /** What a child has come to say of its effects, which it reported to the record itself. */
  know(effects: readonly KnownEffect[]): void;
  /** Notes a message that was no good where people look for it, if this workflow has such a place. */
  refuse(reason: string): void;
}

/**
 * The superior of a child: signals to its parent, and the answers that come back. Call it before the first await.
 *
 * @param runId The topmost workflow, which has the record.
 * @param known The news that the order came with.
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
  setHandler(pauseSignal, (payload) => control.pause(checkControl(payload).reason), {
    description: 'From the parent: start no new calls. {"reason":"…"}',
  });
  setHandler(resumeSignal, () => control.resume(), { description: 'From the parent: go on. {}' });
  return {
    news,
    async ask(escalation) {
      await parent.signal(escalateSignal, escalation);
      return (await mailbox.take(escalation.escalation_id)) ?? [];
    },
    async park(reason) {
      // Calls in flight together are refused together. One report is enough, and a second could overtake the resume.
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
      // The record knows delegations, not the tasks of a team.
      const delegation_id = taskOwner(effect.delegation_id);
      const report: Escalation = { type: 'effect', from, effect: { ...effect, delegation_id } };
      // Straight to the topmost one: what is reported is in its history before anything follows from it.
      return signalQuietly(() => getExternalWorkflowHandle(runId).signal(escalateSignal, report));
    },
    know: () => {},
    // The parent has the inbox, and it did not get the message.
    refuse: () => {},
  };
}
