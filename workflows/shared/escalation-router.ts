import { setHandler } from '@temporalio/workflow';
import type { Escalation } from '../../contracts/messages.ts';
import { checkEscalation } from '../../core/run/check-control.ts';
import { escalateSignal } from './messages.ts';
import { badEscalation } from './superior.ts';

/** Hands what children send up to whoever started them: in one workflow several triads may be at work. */
export interface EscalationRouter {
  /** Call it before the child is started: its first message may come before the news of its start. */
  register(childId: string, take: (escalation: Escalation) => void): void;
}

/**
 * Takes the signal for the whole workflow. Create it before the first await.
 *
 * @param refuse Told of what is no escalation, or of none that was registered.
 * @param takeUnknown Gets what a workflow sent that nobody registered. If undefined, it is refused.
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
