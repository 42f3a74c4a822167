import { workflowInfo } from '@temporalio/workflow';
import type { DelegationOrder } from '../../contracts/delegation-run.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { AskedQuestion, QuestionKind } from '../../contracts/question.ts';
import type { Budget } from './budget.ts';
import type { Superior } from './superior.ts';

/** Questions of an agent or member that works on a delegation. */
interface Asking {
  /** Unique below the superior. A shared superior replaces it. */
  readonly escalation_id: string;
  readonly agent_id: string;
  readonly kind: QuestionKind;
  readonly questions: readonly AskedQuestion[];
  /** Seconds after which the default of each question is taken. If undefined, they wait. */
  readonly deadlineSeconds?: number | undefined;
}

/**
 * Puts questions to the user, and gives the rest of the reservation back for that time. Throws when the asker is cancelled
 * while it waits.
 */
export function askSuperior(
  { wave, delegation }: DelegationOrder,
  context: { readonly superior: Superior; readonly budget: Pick<Budget, 'release'> },
  { escalation_id, agent_id, kind, questions, deadlineSeconds }: Asking,
): Promise<readonly DeliveredAnswer[]> {
  const spent = context.budget.release();
  return context.superior.ask({
    type: 'questions',
    escalation_id,
    from: workflowInfo().workflowId,
    kind,
    wave,
    delegation_id: delegation.delegation_id,
    agent_id,
    questions,
    ...(spent !== undefined && { spent }),
    ...(deadlineSeconds !== undefined && { deadline_seconds: deadlineSeconds }),
  });
}
