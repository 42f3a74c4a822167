import { workflowInfo } from '@temporalio/workflow';
import type { DelegationOrder } from '../../contracts/delegation-run.ts';
import type { DeliveredAnswer, QuestionsEscalation } from '../../contracts/messages.ts';
import type { KnownEffect } from '../../core/output/check-evidence.ts';
import type { Superior } from './superior.ts';

/** One superior for all members that work on a delegation: above it they are unknown. */
export interface SharedSuperior {
  /** @param onWaiting Called with the question that the member waits for; with an empty text when it continues. */
  forMember(onWaiting: (question: string) => void): Superior;
  /** Returns the reported effects of members: the newest state of each, in the order of the first reports. */
  effects(): readonly KnownEffect[];
  /** Returns the number of escalations, for continue-as-new. */
  escalations(): number;
}

/** @param escalationsSoFar The next escalation gets the next number. */
export function shareSuperior(
  superior: Superior,
  { delegation }: DelegationOrder,
  escalationsSoFar: number,
): SharedSuperior {
  const { delegation_id } = delegation;
  const effects = new Map<string, KnownEffect>();
  let escalations = escalationsSoFar;

  // Field by field: a report contains more than the rules need.
  const know = (effect: KnownEffect): void => {
    const { effect_id, target, state, tool, arguments_ref, receipt } = effect;
    const made = {
      ...(tool !== undefined && { tool }),
      ...(arguments_ref !== undefined && { arguments_ref }),
      ...(receipt !== undefined && { receipt }),
    };
    effects.set(effect_id, { effect_id, target, state, ...(state === 'confirmed' && made) });
  };

  const ask = async (
    escalation: QuestionsEscalation,
    onWaiting: (question: string) => void,
  ): Promise<readonly DeliveredAnswer[]> => {
    escalations += 1;
    const escalation_id = `${delegation_id}#${escalations}`;
    const { workflowId: from } = workflowInfo();
    onWaiting(escalation.questions.map(({ text }) => text).join(' · '));
    try {
      return await superior.ask({ ...escalation, escalation_id, from, delegation_id });
    } finally {
      onWaiting('');
    }
  };

  return {
    forMember: (onWaiting) => ({
      news: superior.news,
      ask: (escalation) => ask(escalation, onWaiting),
      park: (reason) => superior.park(reason),
      withdraw: (id) => superior.withdraw(id),
      report(effect) {
        know(effect);
        return superior.report({ ...effect, delegation_id });
      },
      reportSession: (session) => superior.reportSession(session),
      know: (known) => known.forEach(know),
      refuse: (reason) => superior.refuse(reason),
    }),
    effects: () => [...effects.values()],
    escalations: () => escalations,
  };
}
