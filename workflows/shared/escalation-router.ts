import { setHandler } from '@temporalio/workflow';
import type { Escalation } from '../../contracts/messages.ts';
import { checkEscalation } from '../../core/run/read-escalations.ts';
import { escalateSignal } from './messages.ts';
import { badEscalation } from './superior.ts';

/** Routes escalations of children to the code that started them: one workflow may run several triads. */
export interface EscalationRouter {
  /** Must be called before the child is started: its first message may arrive before the confirmation of its start. */
  register(childId: string, take: (escalation: Escalation) => void): void;
}

/**
 * Creates the router, which handles the signal for the whole workflow. Must be called before the first await.
 *
 * @param refuse Called with a message that is no escalation, or of an unregistered child.
 * @param takeUnknown Called with an escalation of an unregistered workflow. If undefined, it is refused.
 */
export function createEscalationRouter(
  refuse: (reason: string) => void,
  takeUnknown: (escalation: Escalation) => void = () => refuse(badEscalation),
): EscalationRouter {
  const children = new Map<string, (escalation: Escalation) => void>();
  setHandler(
    escalateSignal,
    (payload) => {
      const escalation = checkEscalation(payload);
      if (escalation === null) return refuse(badEscalation);
      (children.get(escalation.from) ?? takeUnknown)(escalation);
    },
    { description: 'From a child: a question or a fault. Not for people.' },
  );
  return { register: (childId, take) => void children.set(childId, take) };
}
