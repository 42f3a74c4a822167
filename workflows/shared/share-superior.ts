import { workflowInfo } from '@temporalio/workflow';
import type { DelegationOrder } from '../../contracts/delegation-run.ts';
import type { DeliveredAnswer, QuestionsEscalation } from '../../contracts/messages.ts';
import { taskOwner } from '../../core/ids.ts';
import { definedOnly } from '../../core/json.ts';
import type { KnownEffect } from '../../core/output/check-evidence.ts';
import { adaptSuperior } from './superior.ts';
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
      ...definedOnly({ tool, arguments_ref, receipt }),
    };
    effects.set(effect_id, { effect_id, target, state, ...(state === 'confirmed' && made) });
  };

  // A triad that judges works as on a task of the delegation: the wave knows only that.
  const owner = taskOwner(delegation_id);
  const ask = async (
    escalation: QuestionsEscalation,
    { waits, onWaiting }: Member,
  ): Promise<readonly DeliveredAnswer[]> => {
    escalations += 1;
    const escalation_id = `${delegation_id}#${escalations}`;
    const { workflowId: from } = workflowInfo();
    waits.set(escalation.escalation_id, escalation_id);
    onWaiting(escalation.questions.map(({ text }) => text).join(' · '));
    try {
      return await superior.ask({ ...escalation, escalation_id, from, delegation_id: owner });
    } finally {
      waits.delete(escalation.escalation_id);
      onWaiting('');
    }
  };
  const withdraw = async (id: string, { waits, onWaiting }: Member): Promise<void> => {
    const escalationId = waits.get(id);
    if (escalationId === undefined) return;
    // Its answer never comes.
    waits.delete(id);
    onWaiting('');
    await superior.withdraw(owner, escalationId);
  };
  const adapt = (member: Member): Superior =>
    adaptSuperior(superior, {
      ask: (escalation) => ask(escalation, member),
      withdraw: (delegationId, escalationId) =>
        escalationId === undefined
          ? superior.withdraw(delegationId)
          : withdraw(escalationId, member),
      report(effect) {
        know(effect);
        return superior.report({ ...effect, delegation_id });
      },
      know: (known) => known.forEach(know),
    });

  return {
    forMember: (onWaiting) => adapt({ waits: new Map(), onWaiting }),
    effects: () => [...effects.values()],
    escalations: () => escalations,
  };
}

/** A member that shares its superior with others. */
interface Member {
  /** escalation_ids above the shared superior of what it waits for, by its own. */
  readonly waits: Map<string, string>;
  readonly onWaiting: (question: string) => void;
}
