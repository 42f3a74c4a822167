import { ApplicationFailure, CancellationScope, condition, log } from '@temporalio/workflow';
import type { AskedLoop } from '../../contracts/adaptation.ts';
import type { AmendedAnswer, Delivery, QuestionsEscalation } from '../../contracts/messages.ts';
import { answererNames, assumingAnswerers } from '../../contracts/names.ts';
import type { CarriedInbox, TakenOver } from '../../contracts/planner-run.ts';
import type {
  AnsweredQuestion,
  AnswerInput,
  AnswerReceipt,
  KnownAnswer,
  Question,
} from '../../contracts/question.ts';
import type { Ref } from '../../contracts/ref.ts';
import { engineLimits } from '../../core/limits.ts';
import { toAnswered } from '../../core/questions/inbox-event.ts';
import type { AnsweredEffect, InboxEffect, InboxEvent } from '../../core/questions/inbox-event.ts';
import { openInbox, previewAnswer, stepInbox } from '../../core/questions/step-inbox.ts';
import type { InboxState } from '../../core/questions/step-inbox.ts';
import { metrics, type LabelsOf } from '../../core/metrics/metrics.ts';
import { contradictionOf, type ToldAnswer } from '../../core/run/news.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { storeText } from './activities.ts';
import { nowSeconds } from './clock.ts';
import { QuestionTimers } from './question-timers.ts';
import type { RecordKeeper } from './record-keeper.ts';
import type { AskingRules } from './root-state.ts';
import { amendAnswer } from '../../core/questions/settle-question.ts';
import { untilDone } from './failures.ts';
import { recorder } from './in-span.ts';
import { informsWork } from '../../core/questions/answer-kinds.ts';

export interface InboxHostOptions {
  readonly carried: CarriedInbox | null;
  readonly recentAnswers: readonly AnsweredQuestion[];
  readonly rules: () => AskingRules;
  /** Returns true when the work that asks is done once more. */
  readonly isFull: () => boolean;
  readonly record: RecordKeeper;
  /** Sends the answers to the workflow that asked. */
  readonly deliver: (to: string, delivery: Delivery) => Promise<void>;
  /** Called when the store refuses for good; resolves after a resume. */
  readonly park: (reason: string) => Promise<void>;
  /** Called after an answer about the work was recorded. */
  readonly onAnswered: (asked: Question, answered: ToldAnswer, ref: Ref | null) => void;
  /** Called when a task asked the same once more than it may, or waits in a cycle. */
  readonly onLoop: (loop: AskedLoop) => void;
  readonly onChange: () => void;
}

type DeliverEffect = Extract<InboxEffect, { type: 'deliver' }>;
type QuestionResult = LabelsOf<typeof metrics.questionWait>['result'];

/** The run's inbox. `core/questions` decides the effects of an answer; this stores long answers, records and delivers. */
export class InboxHost {
  readonly #options: InboxHostOptions;
  #state: InboxState;
  #recentAnswers: readonly AnsweredQuestion[];
  readonly #timers: QuestionTimers;
  readonly #longAnswers = new Map<string, Ref>();
  /** Effects take place in order: an answer is stored before it is delivered. */
  #lastTask: Promise<void> = Promise.resolve();
  #tasksUnderway = 0;

  constructor(options: InboxHostOptions) {
    this.#options = options;
    this.#state = openInbox(options.carried);
    this.#recentAnswers = options.recentAnswers;
    this.#timers = new QuestionTimers({
      find: (id) => this.#state.open.find(({ question_id }) => question_id === id),
      onMoment: (type, question_id) => this.#step({ type, question_id, now: nowSeconds() }),
    });
    for (const { question_id } of this.#state.open) this.#timers.start(question_id);
  }

  ask(escalation: QuestionsEscalation): void {
    const { questions: rules, approvers: _approvers, ...run } = this.#options.rules();
    this.#step({ type: 'ask', escalation, now: nowSeconds(), rules, ...run });
  }

  /** Closes the questions of an asker that is gone, or of a whole workflow. */
  withdraw(gone: Omit<Extract<InboxEvent, { type: 'withdraw' }>, 'type' | 'now'>): void {
    this.#step({ ...gone, type: 'withdraw', now: nowSeconds() });
  }

  /** Drops answers that the work done once more has not asked for again. */
  endRepeatedWork(): void {
    this.#step({ type: 'work_ended' });
  }

  /** Handles the signal `answer`. Never throws: a bad one is recorded as rejected. */
  answer(payload: unknown): void {
    this.#take(payload);
  }

  /** Validates the update `submitAnswer`. @throws AnswerRefused with the reason; its details hold an example. */
  validate(payload: unknown): void {
    const preview = previewAnswer(this.#state, payload, this.#options.rules().approvers);
    if (!preview.ok) throw refusal(preview.reason, preview.example);
  }

  /** Replaces an answer that the user changed. The asker keeps the first one. @param now Unix epoch seconds. */
  amend(amended: AmendedAnswer, now: number): void {
    const { question_id, answer } = amended;
    this.#state = amendAnswer(this.#state, amended, now);
    this.#recentAnswers = this.#recentAnswers.map((one) =>
      one.question_id === question_id
        ? { ...one, answer, answered_by: 'user', answered_at: now }
        : one,
    );
  }

  /** Takes over the answers of the run that this one goes on from. Nothing was asked yet. */
  takeOver({ answered, next_question, recent_answers }: TakenOver): void {
    this.#state = { ...this.#state, answered, next_question };
    this.#recentAnswers = recent_answers;
  }

  /** Handles the update `submitAnswer`. @throws AnswerRefused like `validate`. */
  submit(payload: unknown): AnswerReceipt {
    for (const effect of this.#take(payload)) {
      switch (effect.type) {
        case 'answered': {
          const accepted = cutText(effect.text, engineLimits.inlineAnswerCharsMax);
          return { question_id: effect.question.question_id, accepted };
        }
        case 'repeated':
          return { question_id: effect.question_id, accepted: 'the same answer was taken before' };
        case 'rejected':
          throw refusal(effect.rejected.reason, effect.rejected.example);
        case 'opened':
        case 'changed':
        case 'withdrawn':
        case 'looped':
        case 'deliver':
      }
    }
    throw refusal('The answer changed nothing.', null);
  }

  /** Shows a rejected message of another kind among the rejected answers. */
  noteRejected(reason: string): void {
    this.#step({ type: 'refuse', reason, now: nowSeconds() });
  }

  open(): readonly Question[] {
    return this.#state.open;
  }

  /** Returns the answered questions, without those that were withdrawn. */
  knownAnswers(): readonly KnownAnswer[] {
    return Object.entries(this.#state.answered)
      .filter(([, { answered_by }]) => answered_by !== answererNames.engine)
      .map(([question_id, { answered_by }]) => ({ question_id, answered_by }));
  }

  recentAnswers(): readonly AnsweredQuestion[] {
    return this.#recentAnswers;
  }

  rejected(): Pick<CarriedInbox, 'rejected' | 'rejected_total'> {
    const { rejected, rejected_total } = this.#state;
    return { rejected, rejected_total };
  }

  carry(): CarriedInbox {
    return this.#state;
  }

  /** Returns true when no accepted answer is still being delivered. */
  isSettled(): boolean {
    return this.#tasksUnderway === 0;
  }

  settled(): Promise<void> {
    return condition(() => this.isSettled());
  }

  #take(payload: unknown): readonly InboxEffect[] {
    return this.#step({
      type: 'answer',
      payload,
      now: nowSeconds(),
      default_answered_by: 'user',
      approvers: this.#options.rules().approvers,
      work_repeats: this.#options.isFull(),
    });
  }

  #step(event: InboxEvent): readonly InboxEffect[] {
    const { state, effects } = stepInbox(this.#state, event);
    this.#state = state;
    for (const effect of effects) this.#apply(effect);
    this.#options.onChange();
    return effects;
  }

  #apply(effect: InboxEffect): void {
    const { record } = this.#options;
    switch (effect.type) {
      case 'opened':
        record.add({ type: 'question_opened', question: effect.question });
        log.info('question opened', placeOf(effect.question));
        this.#timers.start(effect.question.question_id);
        return;
      case 'changed':
        record.add({ type: 'question_opened', question: effect.question });
        return;
      case 'answered':
        this.#close(effect.question, resultOf(effect.answered_by));
        this.#takeAnswer(effect);
        return;
      case 'withdrawn':
        this.#close(effect.question, 'withdrawn');
        record.add({ type: 'question_withdrawn', question_id: effect.question.question_id });
        return;
      case 'rejected':
        if (effect.isRecorded) record.add({ type: 'answer_rejected', rejected: effect.rejected });
        return;
      case 'looped':
        this.#options.onLoop(effect.loop);
        return;
      case 'deliver':
        this.#inOrder(() => this.#deliver(effect));
        return;
      case 'repeated':
    }
  }

  #close(question: Question, result: QuestionResult): void {
    this.#timers.cancel(question.question_id);
    recorder.observe(metrics.questionWait, { result }, nowSeconds() - question.asked_at);
    log.info('question closed', { ...placeOf(question), result });
  }

  #inOrder(task: () => Promise<void>): void {
    this.#tasksUnderway += 1;
    const before = this.#lastTask;
    this.#lastTask = CancellationScope.nonCancellable(async () => {
      await before;
      try {
        await task();
      } finally {
        this.#tasksUnderway -= 1;
      }
    });
  }

  #takeAnswer(effect: AnsweredEffect): void {
    const answered = toAnswered(effect, nowSeconds());
    // Before it is stored: whoever sees that the question is closed sees its answer.
    this.#recentAnswers = [...this.#recentAnswers, answered].slice(-engineLimits.recentAnswersMax);
    this.#inOrder(() => this.#recordAnswer(effect, answered));
  }

  async #recordAnswer(
    { question, text }: AnsweredEffect,
    answered: AnsweredQuestion,
  ): Promise<void> {
    const { question_id } = question;
    const isLong = text.length > engineLimits.inlineAnswerCharsMax;
    const store = (): Promise<{ ref: Ref }> => storeText({ text });
    const answer_ref = isLong ? (await untilDone(store, this.#options.park)).ref : null;
    if (answer_ref !== null) {
      this.#longAnswers.set(question_id, answer_ref);
      this.#step({ type: 'stored', question_id, answer_ref });
    }
    this.#options.record.add({ type: 'question_answered', answered, answer_ref });
    if (!informsWork(question.kind)) return;
    const contradicted = contradictionOf(question, text, this.#options.record.facts());
    this.#options.onAnswered(question, { ...answered, ...contradicted }, answer_ref);
  }

  async #deliver(effect: DeliverEffect): Promise<void> {
    const answers = effect.answers.map(({ answer_text, is_cut, ...answer }) => {
      const answer_ref = answer.answer_ref ?? this.#longAnswers.get(answer.question_id) ?? null;
      return { ...answer, answer_ref, answer: is_cut && answer_ref !== null ? null : answer_text };
    });
    await this.#options.deliver(effect.from, { escalation_id: effect.escalation_id, answers });
  }
}

/** Returns the label for metrics: an assumed answer counts as a default. */
function resultOf(answeredBy: string): QuestionResult {
  return assumingAnswerers.includes(answeredBy) ? 'defaulted' : 'answered';
}

/** Returns the log fields of a question: asker and place, never the text. */
function placeOf({ question_id, kind, wave, delegation_id }: Question) {
  return { question: question_id, kind, wave, ...(delegation_id && { delegation: delegation_id }) };
}

export function refusal(reason: string, example: AnswerInput | null): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'AnswerRefused',
    message: reason,
    nonRetryable: true,
    details: [example],
  });
}
