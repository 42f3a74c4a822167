import { getExternalWorkflowHandle } from '@temporalio/workflow';
import type { ExternalWorkflowHandle } from '@temporalio/workflow';
import type {
  Escalation,
  BudgetEscalation,
  NewsItem,
  QuestionsEscalation,
} from '../../contracts/messages.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import { createChildRelay } from '../shared/child-relay.ts';
import { inBackground } from '../shared/in-background.ts';
import { deliverSignal, grantSignal } from '../shared/messages.ts';
import { shareSuperior } from '../shared/share-superior.ts';
import { signalQuietly } from '../shared/signal-quietly.ts';
import { badEscalation } from '../shared/superior.ts';

/**
 * Relays messages between a phase and the workflows above its delegation: the run knows delegations, not their phases.
 */
export interface PhaseRelay {
  /** Prepares for the phase's escalations. @param phaseId Its workflow id, before it is started. */
  expect(phaseId: string): void;
  /** Returns the news for the phase's order. */
  news(): readonly NewsItem[];
  /** Reports that the phase is running. @param newsId The newest news item of its order. */
  began(phaseId: string, newsId: number): void;
  ended(phaseId: string): void;
}

/** @param onWaiting Called with the question that the phase waits for; with an empty text when it continues. */
export function openPhaseRelay(
  context: ExecutionContext,
  onWaiting: (question: string) => void,
): PhaseRelay {
  const { order, control, budget, escalations } = context;
  const superior = shareSuperior(context.superior, order, 0).forMember(onWaiting);
  const children = createChildRelay(control, superior.news);
  const passOn = async ({ spent, ...escalation }: QuestionsEscalation): Promise<void> => {
    const given = spent === undefined ? undefined : budget.release(spent);
    const { from, escalation_id } = escalation;
    const answers = await superior.ask({
      ...escalation,
      ...(given !== undefined && { spent: given }),
    });
    await tell(from, (phase) => phase.signal(deliverSignal, { escalation_id, answers }));
  };

  const reserve = async ({ from: to, request_id, ...request }: BudgetEscalation): Promise<void> => {
    const { reservation, reason } = await budget.request(request);
    await tell(to, (phase) => phase.signal(grantSignal, { request_id, reservation, reason }));
  };

  const take = (escalation: Escalation): void => {
    switch (escalation.type) {
      case 'parked':
        return inBackground(() => superior.park(escalation.reason));
      // Reported here only when the triad was started by hand and is the topmost workflow.
      case 'effect':
        return inBackground(() => superior.report(escalation.effect));
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
  phaseId: string,
  send: (phase: ExternalWorkflowHandle) => Promise<void>,
): Promise<void> {
  return signalQuietly(() => send(getExternalWorkflowHandle(phaseId)));
}
