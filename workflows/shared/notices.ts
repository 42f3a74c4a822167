import {
  ChildWorkflowCancellationType,
  condition,
  log,
  ParentClosePolicy,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { Notification, NotifiedState } from '../../contracts/notification.ts';
import { workflowTypes } from '../../contracts/names.ts';
import type { RunStatus } from '../../contracts/planner-run.ts';
import type { StatusView } from '../../contracts/views.ts';
import { notificationWorkflowId } from '../../core/ids.ts';
import {
  notificationId,
  nothingNotified,
  stepNotified,
  type Due,
  type Waits,
} from '../../core/run/notify.ts';
import { sendNotification } from './activities.ts';
import { inBackground } from './background.ts';
import { nowSeconds } from './clock.ts';
import { readFailure } from './failures.ts';
import { childOptions } from './visibility.ts';

/**
 * Tells a person that the run needs one, and that it has ended. Each message is a child workflow that outlives the run, so
 * that a hook that is slow or broken holds nothing up.
 */
export class Notices {
  #state: NotifiedState;
  #starting = 0;

  constructor(carried: NotifiedState | undefined) {
    this.#state = carried ?? nothingNotified;
  }

  /** Must be called after each change of what the run waits for. */
  look(view: StatusView, waits: Waits): void {
    const { state, due } = stepNotified(this.#state, waits);
    this.#state = state;
    if (due !== null) this.#send('needs_user', view, due);
  }

  /** Resolves when the message is on its way. */
  async end(view: StatusView, status: RunStatus): Promise<void> {
    this.#state = { ...this.#state, count: this.#state.count + 1 };
    this.#send('ended', { ...view, phase: status }, { text: '', event: status });
    await this.settled();
  }

  /** Resolves when every message is on its way: before that, the run must neither end nor continue as new. */
  settled(): Promise<void> {
    return condition(() => this.isSettled());
  }

  /** Returns true when every message is on its way. */
  isSettled(): boolean {
    return this.#starting === 0;
  }

  /** Returns undefined when no person was told of anything. */
  carry(): NotifiedState | undefined {
    return this.#state.count === 0 ? undefined : this.#state;
  }

  #send(
    kind: Notification['kind'],
    { run_id, phase, goal, open_questions, usage }: StatusView,
    { text, event }: Due,
  ): void {
    const { calls, cost_micro_usd } = usage;
    const { firstExecutionRunId } = workflowInfo();
    const id = notificationId(firstExecutionRunId, { kind }, this.#state.count, { event, calls });
    const at = nowSeconds();
    this.#starting += 1;
    inBackground(() =>
      this.#start({ id, kind, run_id, phase, goal, text, open_questions, cost_micro_usd, at }),
    );
  }

  async #start(input: Notification): Promise<void> {
    const { run_id, id, kind } = input;
    try {
      const child = await startChild<(sent: Notification) => Promise<void>>(
        workflowTypes.notification,
        {
          ...childOptions(run_id, `tell a person: ${kind}`),
          workflowId: notificationWorkflowId(run_id, id),
          // A run that was reset comes to the same event again.
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          parentClosePolicy: ParentClosePolicy.ABANDON,
          cancellationType: ChildWorkflowCancellationType.ABANDON,
          args: [input],
        },
      ).finally(() => {
        this.#starting -= 1;
      });
      await child.result();
    } catch (error) {
      if (error instanceof WorkflowExecutionAlreadyStartedError) return;
      log.warn('a person was not told', { kind, reason: readFailure(error).message });
    }
  }
}

/**
 * Tells a person about a run. A workflow of its own, so that it outlives the run whose end it tells, and its id lets a reset
 * run start it no second time. Fails when the message was not taken in time.
 */
export async function notification(input: Notification): Promise<void> {
  await sendNotification.executeWithOptions({ summary: `tell a person: ${input.kind}` }, [input]);
}
