import { getExternalWorkflowHandle, setHandler, workflowInfo } from '@temporalio/workflow';
import type { DeliveredAnswer, QuestionsEscalation } from '../../contracts/messages.ts';
import type { Control } from './control.ts';
import { createMailbox } from './mailbox.ts';
import { deliverSignal, escalateSignal, pauseSignal, resumeSignal } from './messages.ts';

/** Who decides what this workflow can't: its parent, or, when it was started by hand, its own inbox. */
export interface Superior {
  /** Resolves when all questions of the escalation are answered, in their order. */
  ask(escalation: QuestionsEscalation): Promise<readonly DeliveredAnswer[]>;
  /** Reports that no call can succeed for now, and resolves when somebody resumed. */
  park(reason: string): Promise<void>;
}

/** The superior of a child: signals to its parent, and the answers that come back. Call it before the first await. */
export function createParentSuperior(parentId: string, control: Control): Superior {
  const parent = getExternalWorkflowHandle(parentId);
  const mailbox = createMailbox();
  setHandler(deliverSignal, (delivery) => mailbox.put(delivery), {
    description: 'From the parent: the answers to one escalation.',
  });
  setHandler(pauseSignal, (message) => control.pause(message.reason ?? ''), {
    description: 'From the parent: start no new calls. {"reason":"…"}',
  });
  setHandler(resumeSignal, () => control.resume(), { description: 'From the parent: go on. {}' });
  return {
    async ask(escalation) {
      await parent.signal(escalateSignal, escalation);
      return mailbox.take(escalation.escalation_id);
    },
    async park(reason) {
      control.park(reason);
      await parent.signal(escalateSignal, {
        type: 'parked',
        from: workflowInfo().workflowId,
        reason,
      });
      await control.ready();
    },
  };
}
