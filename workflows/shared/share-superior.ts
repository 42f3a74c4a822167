import { CancellationScope, condition, workflowInfo } from '@temporalio/workflow';
import type { DelegationOrder } from '../../contracts/delegation-run.ts';
import type { DeliveredAnswer, QuestionsEscalation } from '../../contracts/messages.ts';
import type { KnownEffect } from '../../core/output/check-claimed-effects.ts';
import { inBackground } from './in-background.ts';
import type { Superior } from './superior.ts';

/** One superior for all who work on a delegation: above it, nobody knows them. */
export interface SharedSuperior {
  /** @param onWaiting Told the question that the member waits for; empty when it goes on. */
  forMember(onWaiting: (question: string) => void): Superior;
  /** What members reported that they changed outside: the newest state of each, in the order of the first reports. */
  effects(): readonly KnownEffect[];
  /** For continue-as-new. */
  escalations(): number;
}

interface Asker {
  isGone: boolean;
  /** Whether its question went up. */
  isUp: boolean;
  answers: readonly DeliveredAnswer[] | null;
}

/** @param escalationsSoFar They number the next. */
export function shareSuperior(
  superior: Superior,
  { delegation }: DelegationOrder,
  escalationsSoFar: number,
): SharedSuperior {
  const { delegation_id } = delegation;
  const effects = new Map<string, KnownEffect>();
  let escalations = escalationsSoFar;
  /** Asks that are under way or wait for their turn. */
  let waiting = 0;
  let lastAsked: Promise<void> = Promise.resolve();

  const know = ({ effect_id, target, state }: KnownEffect): void => {
    effects.set(effect_id, { effect_id, target, state });
  };

  const ask = async (
    escalation: QuestionsEscalation,
    onWaiting: (question: string) => void,
  ): Promise<readonly DeliveredAnswer[]> => {
    const asker: Asker = { isGone: false, isUp: false, answers: null };
    // Others may have begun to spend by the time that its turn comes.
    const { spent, ...unspent } = escalation;
    const asked = waiting === 0 && spent !== undefined ? escalation : unspent;
    const putUp = async (): Promise<void> => {
      try {
        if (asker.isGone) return;
        escalations += 1;
        const escalation_id = `${delegation_id}#${escalations}`;
        const { workflowId: from } = workflowInfo();
        asker.isUp = true;
        onWaiting(asked.questions.map(({ text }) => text).join(' · '));
        asker.answers = await superior.ask({ ...asked, escalation_id, from, delegation_id });
      } finally {
        waiting -= 1;
      }
    };
    // One after the other: a wave keeps one wait of each delegation, and keeps it also when the asker is gone.
    waiting += 1;
    const turn = lastAsked;
    lastAsked = turn.then(() => CancellationScope.nonCancellable(putUp));
    const mine = lastAsked;
    inBackground(() => mine);
    try {
      await condition(() => asker.answers !== null);
    } finally {
      asker.isGone = true;
      if (asker.isUp) onWaiting('');
    }
    return asker.answers ?? [];
  };

  return {
    forMember: (onWaiting) => ({
      ask: (escalation) => ask(escalation, onWaiting),
      park: (reason) => superior.park(reason),
      withdraw: (id) => superior.withdraw(id),
      report(effect) {
        know(effect);
        return superior.report({ ...effect, delegation_id });
      },
      know: (known) => known.forEach(know),
      refuse: (reason) => superior.refuse(reason),
    }),
    effects: () => [...effects.values()],
    escalations: () => escalations,
  };
}
