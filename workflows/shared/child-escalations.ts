import { getExternalWorkflowHandle } from '@temporalio/workflow';
import type { ExternalWorkflowHandle } from '@temporalio/workflow';
import type {
  Escalation,
  BudgetEscalation,
  NewsItem,
  QuestionsEscalation,
} from '../../contracts/messages.ts';
import type { Budget } from './budget.ts';
import { createChildRelay } from './child-relay.ts';
import type { Control } from './control.ts';
import type { EscalationRouter } from './escalation-router.ts';
import { inBackground } from './in-background.ts';
import { deliverSignal, grantSignal } from './messages.ts';
import { signalQuietly } from './signal-quietly.ts';
import { badEscalation } from './superior.ts';
import type { Superior } from './superior.ts';

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
  const passOn = async ({ spent, ...escalation }: QuestionsEscalation): Promise<void> => {
    const given = spent === undefined ? undefined : budget.release(spent);
    const { from, escalation_id } = escalation;
    const answers = await superior.ask({
      ...escalation,
      ...(given !== undefined && { spent: given }),
    });
    await tell(from, (child) => child.signal(deliverSignal, { escalation_id, answers }));
  };

  const reserve = async ({ from: to, request_id, ...request }: BudgetEscalation): Promise<void> => {
    const { reservation, reason } = await budget.request(request);
    await tell(to, (child) => child.signal(grantSignal, { request_id, reservation, reason }));
  };

  const take = (escalation: Escalation): void => {
    switch (escalation.type) {
      case 'parked':
        return inBackground(() => superior.park(escalation.reason));
      // Reported here only where this is the topmost workflow.
      case 'effect':
        return inBackground(() => superior.report(escalation.effect));
      case 'session':
        return inBackground(() => superior.reportSession(escalation.session));
      case 'budget':
        return inBackground(() => reserve(escalation));
      case 'questions':
        return inBackground(() => passOn(escalation));
      case 'withdrawn':
        return superior.refuse(badEscalation);
    }
  };

  return {
    expect: (id) => escalations.register(id, take),
    news: () => superior.news.all(),
    began: (id, newsId) => children.welcome(id, newsId),
    ended: (id) => children.dismiss(id),
  };
}

function tell(
  childId: string,
  send: (child: ExternalWorkflowHandle) => Promise<void>,
): Promise<void> {
  return signalQuietly(() => send(getExternalWorkflowHandle(childId)));
}
