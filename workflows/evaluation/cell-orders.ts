import { patched, setHandler } from '@temporalio/workflow';
import type {
  ChildWorkflowHandle,
  SignalDefinition,
  Workflow,
  WorkflowResultType,
} from '@temporalio/workflow';
import { checkControl } from '../../core/run/check-control.ts';
import { inBackground, signalInOrder } from '../shared/background.ts';
import { pauseSignal, resumeSignal, stopSignal } from '../shared/messages.ts';

type Order = SignalDefinition<[unknown]>;
type Send = (order: Order, payload: unknown) => void;

/**
 * Takes what people tell an evaluation and passes it on to the runs of its cells: a stop, a pause, and its end. A cell that
 * starts meanwhile is told too.
 */
export class CellOrders {
  readonly #open = new Map<string, Send>();
  #stopReason: string | null = null;
  #pause: unknown = null;

  constructor() {
    const obey = (order: Order, description: string, note: (payload: unknown) => void): void =>
      setHandler(
        order,
        (payload) => {
          // Evaluations from before 2026-11-26 left these signals unread.
          if (!patched('evaluation-orders')) return;
          note(payload);
          for (const send of this.#open.values()) send(order, payload);
        },
        { description },
      );
    obey(stopSignal, 'Stops the open runs; no other starts: {"reason":"…"}', (payload) => {
      this.#stopReason = readReason(payload);
    });
    obey(pauseSignal, 'Pauses the open runs; no other starts: {"reason":"…"}', (payload) => {
      this.#pause = payload ?? {};
    });
    obey(resumeSignal, 'Goes on after pause, or after a parked run was mended: {}', () => {
      this.#pause = null;
    });
  }

  isPaused(): boolean {
    return this.#pause !== null;
  }

  /** Returns why the evaluation was stopped, perhaps empty; null when it was not. */
  stopReason(): string | null {
    return this.#stopReason;
  }

  /** Waits for the end of a run, which is told of every order until then. */
  async untilEnded<T extends Workflow>(
    run: ChildWorkflowHandle<T>,
  ): Promise<WorkflowResultType<T>> {
    const quietly = signalInOrder();
    const send: Send = (order, payload) =>
      inBackground(() => quietly(() => run.signal(order, payload)));
    this.#open.set(run.workflowId, send);
    if (this.#pause !== null) send(pauseSignal, this.#pause);
    if (this.#stopReason !== null) send(stopSignal, { reason: this.#stopReason });
    try {
      return await run.result();
    } finally {
      this.#open.delete(run.workflowId);
    }
  }
}

/** Returns the reason; empty for a message that can't be read: whoever sends it means a stop all the same. */
function readReason(payload: unknown): string {
  const checked = checkControl(payload);
  return checked.ok ? checked.reason : '';
}
