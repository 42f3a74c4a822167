import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  log,
  workflowInfo,
} from '@temporalio/workflow';
import type { OpenRunInput, OpenRunResult } from '../../contracts/activity-types.ts';
import type { RecordedEffect } from '../../contracts/effect.ts';
import type {
  DeliveredAnswer,
  Delivery,
  Escalation,
  NewsItem,
  QuestionsEscalation,
  WaveProgress,
} from '../../contracts/messages.ts';
import type { SessionReport } from '../../contracts/note.ts';
import type { CarriedRun, PlannerRunResult, RunStatus } from '../../contracts/planner-run.ts';
import type { WaveResult } from '../../contracts/planner-wave.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { DelegationStatusView, StatusView } from '../../contracts/views.ts';
import { estimateFanOut } from '../../core/budget/estimate-fan-out.ts';
import { applyPlan } from '../../core/criteria/criteria.ts';
import { definedOnly } from '../../core/json.ts';
import { metrics } from '../../core/metrics/metrics.ts';
import { isFromUser, newsOfAnswer, type UnnumberedNews } from '../../core/run/news.ts';
import { RunTopUps } from './account.ts';
import { openRun } from './activities.ts';
import { createChildRelay, type ChildRelay } from './child-relay.ts';
import { nowSeconds } from './clock.ts';
import { createControl, createParking, type Control } from './control.ts';
import { endUnattended } from './end-unattended.ts';
import { InboxHost } from './inbox-host.ts';
import { createMailbox } from './messages.ts';
import { NewsFeed } from './news-feed.ts';
import { createRecordKeeper, type RecordKeeper } from './record-keeper.ts';
import { askingRules, openRootState, recordStart, takeUpOpened } from './root-state.ts';
import type { RootState } from './root-state.ts';
import { loseWaveInState, recordedWave, takeWaveIntoState, type LostWave } from './take-wave.ts';
import { RootViews } from './root-views.ts';
import { startedWith } from './store-stamp.ts';
import { badEscalation, type Superior } from './superior.ts';
import { isFlooded } from '../../core/run/decide-next-step.ts';
import { causeOnly } from './failures.ts';
import { recorder } from './in-span.ts';

/**
 * Parts that only the topmost workflow has, also one that is started by hand: the inbox, the record, the views. Must be
 * created, with its handlers registered, before the first await, so that no message arrives without a handler.
 */
export class RootHost implements Superior {
  readonly runId = workflowInfo().workflowId;
  readonly state: RootState;
  readonly control: Control;
  readonly record: RecordKeeper;
  readonly inbox: InboxHost;
  readonly news = new NewsFeed();
  readonly relay: ChildRelay;
  readonly topUps = new RunTopUps();
  readonly #mailbox = createMailbox<Delivery['answers']>();
  readonly #stopScope = new CancellationScope();
  readonly views: RootViews;
  readonly #park: ReturnType<typeof createParking>;

  /** @param carried State that the run before continue-as-new carried over, or null at the start. */
  constructor(carried: CarriedRun | null) {
    this.state = openRootState(carried);
    const {
      paused_reason: paused = null,
      parked_reason: parked = null,
      parked_again: again,
    } = carried ?? {};
    this.control = createControl({ paused, parked, again }, () => this.refresh());
    this.relay = createChildRelay(this.control, this.news);
    this.record = createRecordKeeper({
      runId: this.runId,
      control: this.control,
      onWritten: () => this.refresh(),
    });
    this.inbox = new InboxHost({
      carried: carried?.inbox ?? null,
      recentAnswers: carried?.recent_answers ?? [],
      rules: () => askingRules(this.state),
      isFull: () => this.isFull(),
      record: this.record,
      deliver: (to, delivery) => this.#deliver(to, delivery),
      park: (reason) => this.park(reason),
      // Planner and designers continue with the answer in the same conversation.
      onAnswered: ({ kind }, answered, ref) =>
        this.tell(newsOfAnswer(answered, ref, false), { isPending: kind === 'blocking' }),
      onLoop: (loop) => this.state.loops.push(loop),
      onChange: () => this.refresh(),
    });
    this.views = new RootViews(this, carried?.notified);
    if (carried !== null) {
      this.record.begin({
        record_ref: carried.record_ref,
        known_inputs: carried.known_inputs,
        stale: carried.stale,
        facts_total: carried.facts_total,
        facts: carried.recent_facts,
      });
    }
    // A carried park shows itself at once, with all of the above.
    this.#park = createParking(this.control, carried);
  }

  /** Validates the input and writes the first record. @throws InvalidInput with every fault at once. */
  async open(workflowType: OpenRunInput['workflow_type'], input: unknown): Promise<OpenRunResult> {
    const { started_at } = this.state;
    const opened = await causeOnly(() =>
      openRun.executeWithOptions({ summary: 'check the input' }, [
        { ...startedWith(), workflow_type: workflowType, run_id: this.runId, input, started_at },
      ]),
    );
    const fault = takeUpOpened(this.state, opened);
    if (fault !== null) this.refuse(fault);
    // A part that is started alone is the whole run.
    if (workflowType !== 'plannerRun') this.state.waves_allowed = 1;
    log.info('run opened', { type: workflowType });
    this.record.begin(recordStart(opened));
    this.refresh();
    return opened;
  }

  async ask(escalation: QuestionsEscalation): Promise<readonly DeliveredAnswer[]> {
    this.inbox.ask(escalation);
    return (await this.#mailbox.take(escalation.escalation_id)) ?? [];
  }

  async park(reason: string, until?: number): Promise<void> {
    this.#park(reason, until);
    await this.control.ready();
  }

  async withdraw(delegation_id: string | null, escalation_id?: string): Promise<void> {
    this.inbox.withdraw({ from: this.runId, delegation_id, ...definedOnly({ escalation_id }) });
  }

  refuse(reason: string): void {
    this.inbox.noteRejected(reason);
  }

  async report(effect: RecordedEffect): Promise<void> {
    this.record.add({ type: 'effect', effect });
  }

  async reportSession(session: SessionReport): Promise<void> {
    this.record.add({ type: 'session', session });
  }

  know(): void {}

  /** Handles an escalation of a child: questions go to the inbox, trouble with the provider parks the run. Budgets are its wave's. */
  escalate(escalation: Escalation): void {
    switch (escalation.type) {
      case 'parked':
        return this.#park(escalation.reason, escalation.until);
      case 'withdrawn':
        return this.inbox.withdraw({ ...escalation, is_repeated: this.isFull() });
      case 'effect':
        return this.record.add({ type: 'effect', effect: escalation.effect });
      case 'session':
        return this.record.add({ type: 'session', session: escalation.session });
      case 'questions':
        return this.inbox.ask(this.topUps.note(escalation));
      case 'budget':
        return this.refuse(badEscalation);
    }
  }

  /** Returns true when this execution must take only the signals of its wave's end. */
  isFull(): boolean {
    return isFlooded(this.state.signals, this.state.opened?.limits ?? null);
  }

  /** Runs the work in a scope that `stop` cancels. */
  stoppable<T>(work: () => Promise<T>): Promise<T> {
    return this.#stopScope.run(work);
  }

  stop(): void {
    this.#stopScope.cancel();
  }

  /**
   * Numbers a decision and sends it to all running conversations. Must be called after the record got the same.
   * @param isPending True when a planning step still has to consider it, if it is the user's.
   */
  tell(unnumbered: UnnumberedNews, { isPending }: { readonly isPending: boolean }): void {
    const { state } = this;
    const item: NewsItem = { ...unnumbered, news_id: state.news.last + 1 };
    const from_user = isPending && isFromUser(item) ? item.news_id : state.news.from_user;
    state.news = { ...state.news, last: item.news_id, from_user };
    this.news.take([item]);
  }

  /** Notes the newest news item up to which the planner has considered the user's input. */
  considered(newsId: number): void {
    const { news } = this.state;
    this.state.news = { ...news, considered: Math.max(news.considered, newsId) };
  }

  status(): StatusView {
    return this.views.status();
  }

  /** Must be called after each change of `state`. */
  refresh(): void {
    endUnattended(this);
    this.views.refresh();
  }

  /** Shows and records the plan of a wave that began. */
  showPlan(progress: WaveProgress): void {
    const { wave, summary, delegations, criterion_ids } = progress;
    this.state.criteria = applyPlan(this.state.criteria, [{ criterion_ids }]);
    this.state.wave_at_work = wave;
    const expected = estimateFanOut(progress.usage, delegations);
    this.state.wave_usage = progress.usage;
    this.state.plan = { wave, summary, delegations, expected };
    this.record.add({ type: 'wave_planned', progress });
    this.refresh();
  }

  /** Shows the state of a delegation that is the topmost workflow. */
  showWork(work: DelegationStatusView): void {
    this.state.work = work;
    this.refresh();
  }

  takeWave(wave: WaveResult): void {
    takeWaveIntoState(this.state, wave, this.news);
    this.record.add({ type: 'wave_done', wave: recordedWave(wave), criteria: this.state.criteria });
    this.refresh();
  }

  loseWave(lost: LostWave): void {
    loseWaveInState(this.state, lost);
    this.record.add({ type: 'wave_lost', wave: lost.wave, usage: lost.usage });
    this.refresh();
  }

  /** Writes the last record with its answer and leaves the last state visible. @param reasons Those of this execution. */
  finish(status: RunStatus, reasons: ReadonlyMap<string, string>): Promise<PlannerRunResult> {
    return CancellationScope.nonCancellable(async () => {
      const { state, record } = this;
      state.closing = true;
      state.phase = 'ending';
      await this.inbox.settled();
      const stopped = state.stop_reason ? { stop_reason: state.stop_reason } : {};
      record.add({ type: 'ended', status, usage: state.usage, ...stopped });
      const record_ref = await this.settleRecord();
      const recorded = record.result();
      if (recorded === null) throw ApplicationFailure.nonRetryable('The record has no result.');
      const { unmet_reasons = {}, ...result } = recorded;
      const why = new Map([...Object.entries(unmet_reasons), ...reasons]);
      await this.views.tellEnd(status);
      state.phase = status;
      state.result = result;
      await condition(allHandlersFinished);
      this.views.show();
      recorder.observe(metrics.runDuration, { status }, nowSeconds() - state.started_at);
      log.info('run ended', { status, waves: state.wave, ...state.usage });
      return {
        run_id: this.runId,
        status,
        ...result,
        waves: state.wave,
        criteria: state.criteria.map(({ criterion_id, state: ended }) => ({
          criterion_id,
          state: ended,
          // An earlier attempt may have failed at what is met now.
          reason: ended === 'open' ? (why.get(criterion_id) ?? '') : '',
        })),
        usage: state.usage,
        record_ref,
        ...stopped,
      };
    });
  }

  /** Resolves with the newest record when it has all that was accepted: a late answer may need a write of its own. */
  async settleRecord(): Promise<Ref> {
    for (;;) {
      await this.inbox.settled();
      const ref = await this.record.flush();
      if (this.inbox.isSettled()) return ref;
    }
  }

  async #deliver(to: string, delivery: Delivery): Promise<void> {
    this.topUps.hear(to, delivery);
    if (to === this.runId) this.#mailbox.put(delivery.escalation_id, delivery.answers);
    else await this.relay.deliver(to, delivery);
  }
}
