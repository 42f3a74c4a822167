import { getExternalWorkflowHandle, setHandler, workflowInfo } from '@temporalio/workflow';
import type { ExternalWorkflowHandle } from '@temporalio/workflow';
import type { DelegationOrder } from '../../contracts/delegation-run.ts';
import type { Escalation, LeaseEscalation, QuestionsEscalation } from '../../contracts/messages.ts';
import { checkEscalation } from '../../core/run/check-control.ts';
import type { DelegationDesk } from '../delegation/run-delegation.ts';
import { createControlRelay } from '../shared/control-relay.ts';
import { inBackground } from '../shared/in-background.ts';
import { deliverSignal, escalateSignal, grantSignal } from '../shared/messages.ts';
import { signalQuietly } from '../shared/signal-quietly.ts';
import { badEscalation } from '../shared/superior.ts';

/** What passes between a phase and whoever is above its delegation: the run knows delegations, not their phases. */
export interface PhaseRelay {
  /** @param phaseId Workflow id of the phase at work. */
  began(phaseId: string): void;
  ended(): void;
}

/** @param onWaiting Told the question that the phase waits for; empty when it goes on. Call before the first await. */
export function openPhaseRelay(
  { delegation }: DelegationOrder,
  { control, superior, funds }: DelegationDesk,
  onWaiting: (question: string) => void,
): PhaseRelay {
  const { delegation_id } = delegation;
  const from = workflowInfo().workflowId;
  const controls = createControlRelay(control);
  let phaseId: string | null = null;
  let questions = 0;
  let lastQuestion: Promise<void> = Promise.resolve();

  const passOn = async (escalation: QuestionsEscalation): Promise<void> => {
    questions += 1;
    const number = questions;
    const { escalation_id, spent } = escalation;
    if (spent !== undefined) funds.release(spent);
    onWaiting(escalation.questions.map(({ text }) => text).join(' · '));
    const answers = await superior.ask({
      ...escalation,
      escalation_id: `${delegation_id}#${number}`,
      from,
    });
    onWaiting('');
    await tell(escalation.from, (phase) => phase.signal(deliverSignal, { escalation_id, answers }));
  };

  const lend = async ({ from: to, request_id, ...wish }: LeaseEscalation): Promise<void> => {
    const { lease, reason } = await funds.lend(wish);
    await tell(to, (phase) => phase.signal(grantSignal, { request_id, lease, reason }));
  };

  const take = (escalation: Escalation | null): void => {
    switch (escalation?.type) {
      case 'parked':
        return inBackground(() => superior.park(escalation.reason));
      // Only a triad that was started by hand is the topmost workflow.
      case 'effect':
        return inBackground(() => superior.report(escalation.effect));
      case 'lease':
        return inBackground(() => lend(escalation));
      case 'questions': {
        // One after the other: a wave keeps one wait of each delegation.
        const turn = lastQuestion;
        lastQuestion = turn.then(() => passOn(escalation));
        const asked = lastQuestion;
        return inBackground(() => asked);
      }
      case undefined:
      case 'withdrawn':
        return superior.refuse(badEscalation);
    }
  };

  setHandler(escalateSignal, (payload) => take(checkEscalation(payload)), {
    description: 'From a phase: a question or a fault. Not for people.',
  });
  control.subscribe((change) => {
    if (phaseId !== null) controls.tell(phaseId, change);
  });
  return {
    began(id) {
      phaseId = id;
      controls.welcome(id);
    },
    ended() {
      phaseId = null;
    },
  };
}

function tell(
  phaseId: string,
  send: (phase: ExternalWorkflowHandle) => Promise<void>,
): Promise<void> {
  return signalQuietly(() => send(getExternalWorkflowHandle(phaseId)));
}
