import { condition, getExternalWorkflowHandle } from '@temporalio/workflow';
import type { CancellationScope } from '@temporalio/workflow';
import type { DelegationOutline } from '../../contracts/delegation.ts';
import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type {
  DeliveredAnswer,
  Escalation,
  BudgetEscalation,
  QuestionsEscalation,
} from '../../contracts/messages.ts';
import type { WaveOrder } from '../../contracts/planner-wave.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import { hasEnded } from '../../core/schedule/schedule.ts';
import type { ScheduleEvent } from '../../core/schedule/step-schedule.ts';
import { mayDecide } from '../../core/design/architect-task.ts';
import { delegationWorkflowId } from '../../core/ids.ts';
import type { ChildRelay } from '../shared/child-relay.ts';
import { grantSignal } from '../shared/messages.ts';
import { adaptSuperior, badEscalation, passOn } from '../shared/superior.ts';
import type { Superior } from '../shared/superior.ts';
import type { Account } from '../shared/account.ts';
import { superseded } from '../shared/budget.ts';
import { AttemptQuestions } from './attempt-questions.ts';
import type { Asker } from './attempt-questions.ts';
import type { PlannerContext } from './consult-planner.ts';
import { putQuestions } from './put-questions.ts';
import type { Decided, Reviewing } from './put-questions.ts';
import { ReviewQueue } from './review-queue.ts';
import type { Waiting } from '../../core/questions/check-review.ts';
import { inBackground, signalQuietly } from '../shared/background.ts';
import type { WavePlanOutline } from '../../contracts/wave-plan.ts';

/** The planner's context with the wave's account; null: nothing is limited. */
export type DispatchContext = PlannerContext & { readonly account: Account | null };

interface ServedWave {
  /** Returns the plan as it is now. */
  readonly plan: () => WavePlanOutline;
  /**
   * Has the solution architect of the plan decide questions of a delegation.
   *
   * @param onAdded Called with the delegation_id of the task that decides.
   */
  readonly decide: (
    asker: string,
    questions: readonly AskedQuestion[],
    onAdded: (delegationId: string) => void,
  ) => Promise<Decided | null>;
  readonly order: WaveOrder;
  readonly context: DispatchContext;
  readonly waveId: string;
  readonly relay: ChildRelay;
  readonly outcomes: ReadonlyMap<string, DelegationOutcome>;
  /** The wave's own. */
  readonly scope: CancellationScope;
  readonly entries: () => readonly Waiting[];
  readonly on: (event: ScheduleEvent<DelegationOutline>) => void;
  /** Returns true while the delegation has a slot. */
  readonly isRunning: (delegationId: string) => boolean;
}

/** Receiver of the answers to one escalation. */
type HandOver = (answers: readonly DeliveredAnswer[]) => void;

/** Gives delegations what they ask of their wave: by a call inside its workflow, and by signals to a child. */
export class DelegationService {
  readonly #wave: ServedWave;
  /** Answers that wait for a slot: several members of a team or a triad may ask at the same time. */
  readonly #answered = new Map<string, (() => void)[]>();
  /** Delegations that resume because a question was withdrawn. */
  readonly #withdrawn = new Set<string>();
  readonly #asked: AttemptQuestions;
  readonly #reviews: ReviewQueue;
  /** Keys of questions that the inbox refuses from now on. */
  readonly #refused: Set<string>;

  constructor(wave: ServedWave) {
    this.#wave = wave;
    const { scope, entries, context, order } = wave;
    this.#asked = new AttemptQuestions((delegationId, escalationId) =>
      inBackground(() => context.superior.withdraw(delegationId, escalationId)),
    );
    this.#refused = new Set(order.refused_questions);
    this.#reviews = new ReviewQueue({ scope, entries, account: context.account });
  }

  /** Returns true while a review runs: the wave ends only after its cost is counted. */
  isReviewing(): boolean {
    return this.#reviews.isReviewing();
  }

  /** Returns the superior of a delegation that works in this workflow. */
  superiorOf(delegationId: string): Superior {
    return adaptSuperior(this.#wave.context.superior, {
      ask: (escalation) => this.#answersTo(delegationId, escalation),
      withdraw: (_id, escalationId) => this.#withdraw(delegationId, escalationId),
    });
  }

  /** Handles an escalation of a child. */
  take(escalation: Escalation): void {
    passOn(escalation, this.#wave.context.superior, {
      budget: (request) => this.#grant(request),
      questions: (asked) => this.#takeQuestions(asked),
      withdrawn: ({ delegation_id, escalation_id }) => this.#withdraw(delegation_id, escalation_id),
    });
  }

  /** Hands over the answers of a delegation that has a slot again. */
  resume(delegationId: string): void {
    const waiting = this.#answered.get(delegationId) ?? [];
    this.#answered.delete(delegationId);
    this.#withdrawn.delete(delegationId);
    for (const handOver of waiting) handOver();
  }

  /**
   * Lets a delegation that crashed begin anew, once it has a slot. What it asks again is not put again: it gets the same
   * answers.
   */
  async restart(delegationId: string): Promise<true> {
    const { on, isRunning } = this.#wave;
    this.#asked.beginAnew(delegationId);
    this.#answered.delete(delegationId);
    this.#withdrawn.delete(delegationId);
    // Does nothing unless it was waiting.
    on({ type: 'answered', delegation_id: delegationId });
    await condition(() => isRunning(delegationId));
    on({ type: 'retried', delegation_id: delegationId });
    return true;
  }

  async #answersTo(
    delegationId: string,
    escalation: QuestionsEscalation,
  ): Promise<readonly DeliveredAnswer[]> {
    const slot: { answers: readonly DeliveredAnswer[] | null } = { answers: null };
    // The inbox has the questions, even if their asker is cancelled while it waits.
    inBackground(() =>
      this.#ask(delegationId, escalation, (answers) => {
        slot.answers = answers;
      }),
    );
    await condition(() => slot.answers !== null);
    return slot.answers ?? [];
  }

  async #takeQuestions(escalation: QuestionsEscalation): Promise<void> {
    const { delegation_id, escalation_id } = escalation;
    const { context, relay } = this.#wave;
    if (delegation_id === null) return context.superior.refuse(badEscalation);
    await this.#ask(delegation_id, escalation, (answers) =>
      inBackground(() => relay.deliver(this.#childId(delegation_id), { escalation_id, answers })),
    );
  }

  /** Takes back the questions of a part of a delegation that is lost: those in the inbox, and those under review. */
  async #withdraw(delegationId: string | null, escalationId: string | undefined): Promise<void> {
    const { superior } = this.#wave.context;
    const lost = delegationId === null ? null : this.#asked.drop(delegationId, escalationId);
    if (delegationId === null || lost === null) return;
    // The rest of the delegation goes on.
    this.#withdrawn.add(delegationId);
    this.#wave.on({ type: 'answered', delegation_id: delegationId });
    await superior.withdraw(delegationId, lost);
  }

  /** @param handOver Called once the delegation has a slot again; never if it has ended. */
  async #ask(
    delegationId: string,
    escalation: QuestionsEscalation,
    handOver: HandOver,
  ): Promise<void> {
    const { plan, order, context, waveId, outcomes, entries, on, isRunning } = this.#wave;
    if (escalation.spent !== undefined) context.account?.release(delegationId, escalation.spent);
    const unanswered = this.#withdrawn.has(delegationId) && !this.#answered.has(delegationId);
    on({ type: 'asked', delegation_id: delegationId, unanswered });
    const crashes = this.#asked.crashes(delegationId);
    const asker: Asker = { escalation_id: escalation.escalation_id, isGone: false };
    const put = (escalation_id: string): ReturnType<typeof putQuestions> =>
      putQuestions({ ...escalation, escalation_id, from: waveId }, context, {
        order,
        plan_ref: plan().plan_ref,
        architect: this.#architectFor(delegationId),
        outputs: () =>
          [...outcomes.values()].flatMap(({ delegation_id, output_ref }) =>
            output_ref === null ? [] : [{ delegation_id, output_ref }],
          ),
        unfinished: () =>
          entries().flatMap(({ delegation_id: id, state }) =>
            id === delegationId || hasEnded(state) ? [] : [id],
          ),
        isGone: () => asker.isGone || outcomes.has(delegationId),
        refused: this.#refused,
        review: (work) => this.#reviews.review(delegationId, work),
        untilEnded: (ids) => this.#reviews.untilEnded(delegationId, ids),
      });
    const answers = await this.#asked.putOnce(delegationId, escalation, asker, put);
    // Another attempt asks for itself.
    if (answers === null || asker.isGone || crashes !== this.#asked.crashes(delegationId)) return;
    const waiting = this.#answered.get(delegationId) ?? [];
    this.#answered.set(delegationId, [...waiting, () => handOver(answers)]);
    on({ type: 'answered', delegation_id: delegationId });
    // Other members may have got their answers, and the delegation its slot, already.
    if (isRunning(delegationId)) this.resume(delegationId);
  }

  /** Returns the architect for questions of the delegation; null where it decides none. */
  #architectFor(asker: string): Reviewing['architect'] {
    const { architect } = this.#wave.order;
    if (architect === undefined || !mayDecide(this.#wave.plan().delegations, asker)) return null;
    const { agent_name } = architect;
    return {
      agent_name,
      decide: (questions) =>
        this.#reviews.awaiting(asker, [], (results) =>
          this.#wave.decide(asker, questions, (id) => results.push(id)),
        ),
    };
  }

  async #grant({ request_id, delegation_id, ...needs }: BudgetEscalation): Promise<void> {
    const { account, superior } = this.#wave.context;
    if (account === null) return superior.refuse(badEscalation);
    const grant = await account.request(delegation_id, needs);
    if (grant === superseded) return;
    const child = getExternalWorkflowHandle(this.#childId(delegation_id));
    inBackground(() => signalQuietly(() => child.signal(grantSignal, { request_id, ...grant })));
  }

  #childId(delegationId: string): string {
    return delegationWorkflowId(this.#wave.waveId, delegationId);
  }
}
