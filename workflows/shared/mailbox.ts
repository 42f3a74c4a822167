import { condition } from '@temporalio/workflow';
import type { DeliveredAnswer, Delivery } from '../../contracts/messages.ts';

/** Deliveries by escalation id, whichever comes first: the wait or the delivery. */
export interface Mailbox {
  put(delivery: Delivery): void;
  /** Resolves when the answers to the escalation are there. */
  take(escalationId: string): Promise<readonly DeliveredAnswer[]>;
}

export function createMailbox(): Mailbox {
  const letters = new Map<string, readonly DeliveredAnswer[]>();
  return {
    put: ({ escalation_id, answers }) => void letters.set(escalation_id, answers),
    async take(escalationId) {
      await condition(() => letters.has(escalationId));
      const answers = letters.get(escalationId) ?? [];
      letters.delete(escalationId);
      return answers;
    },
  };
}
