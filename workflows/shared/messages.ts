import { defineQuery, defineSignal, defineUpdate, condition } from '@temporalio/workflow';
import type { AnswerInput, AnswerReceipt } from '../../contracts/question.ts';
import type { NewsDelivery, PlannedDelegation, WaveProgress } from '../../contracts/messages.ts';
import { queryNames, signalNames, updateNames } from '../../contracts/names.ts';
import type {
  BudgetView,
  DelegationStatusView,
  DesignStatusView,
  PhaseStatusView,
  PlanView,
  PoolView,
  QuestionsView,
  RunWavesView,
  StatusView,
  WaveView,
} from '../../contracts/views.ts';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { Usage } from '../../contracts/usage.ts';
import { isOfRun } from '../../core/criteria/criteria.ts';
import { planExecutor } from '../../core/executor.ts';
import type { WavePlanOutline } from '../../contracts/wave-plan.ts';

/** Untyped, as all that come unchecked from a hand as well: `core` checks their shape. */
export const answerSignal = defineSignal<[unknown]>(signalNames.answer);
export const escalateSignal = defineSignal<[unknown]>(signalNames.escalate);
export const pauseSignal = defineSignal<[unknown]>(signalNames.pause);
export const resumeSignal = defineSignal<[unknown]>(signalNames.resume);
export const stopSignal = defineSignal<[unknown]>(signalNames.stop);
export const amendSignal = defineSignal<[unknown]>(signalNames.amend);
export const deliverSignal = defineSignal<[unknown]>(signalNames.deliver);
export const informSignal = defineSignal<[NewsDelivery]>(signalNames.inform);
export const grantSignal = defineSignal<[unknown]>(signalNames.grant);
export const progressSignal = defineSignal<[unknown]>(signalNames.progress);
export const designedSignal = defineSignal<[unknown]>(signalNames.designed);

export const submitAnswerUpdate = defineUpdate<AnswerReceipt, [AnswerInput]>(
  updateNames.submitAnswer,
);

export const statusQuery = defineQuery<StatusView>(queryNames.status);
export const delegationStatusQuery = defineQuery<DelegationStatusView | null>(queryNames.status);
/** Query of a wave: the status of the delegation that the argument names, otherwise its own if it is the topmost workflow. */
export const waveStatusQuery = defineQuery<StatusView | DelegationStatusView | null, [unknown?]>(
  queryNames.status,
);
export const designStatusQuery = defineQuery<DesignStatusView>(queryNames.status);
export const phaseStatusQuery = defineQuery<PhaseStatusView | null>(queryNames.status);
export const questionsQuery = defineQuery<QuestionsView>(queryNames.questions);
export const planQuery = defineQuery<PlanView | null>(queryNames.plan);
export const poolQuery = defineQuery<PoolView>(queryNames.pool);
export const budgetQuery = defineQuery<BudgetView>(queryNames.budget);
export const waveQuery = defineQuery<WaveView | RunWavesView>(queryNames.wave);

/** Rendezvous by id: `take` resolves once `put` was called for the id, in either order. */
interface Mailbox<Letter> {
  put(id: string, letter: Letter): void;
  /** Resolves with the letter; with undefined when another waiter for the same id took it. */
  take(id: string): Promise<Letter | undefined>;
}

export function createMailbox<Letter>(): Mailbox<Letter> {
  const letters = new Map<string, Letter>();
  return {
    put: (id, letter) => void letters.set(id, letter),
    async take(id) {
      await condition(() => letters.has(id));
      const letter = letters.get(id);
      letters.delete(id);
      return letter;
    },
  };
}

export function progressOf(wave: number, plan: WavePlanOutline, usage: Usage): WaveProgress {
  return {
    wave,
    plan_ref: plan.plan_ref,
    summary: plan.summary,
    delegations: plan.delegations.map(toPlanned),
    criterion_ids: [
      ...new Set(plan.delegations.filter(isOfRun).flatMap((one) => one.criterion_ids)),
    ],
    usage,
  };
}

/** Returns the visible part of a delegation before it ends. */
export function toPlanned({
  delegation_id,
  agent_id,
  title,
  depends_on,
  executor,
  rule_of_two,
}: DelegationOutline): PlannedDelegation {
  return {
    delegation_id,
    agent_id,
    title,
    depends_on,
    executor: planExecutor(executor),
    ...(rule_of_two !== undefined && { rule_of_two }),
  };
}
