import {
  condition,
  isCancellation,
  log,
  setDefaultSignalHandler,
  setHandler,
} from '@temporalio/workflow';
import type {
  ChildWorkflowHandle,
  SignalDefinition,
  Workflow,
  WorkflowResultType,
} from '@temporalio/workflow';
import { checkControl, checkResume } from '../../core/run/check-control.ts';
import type { CheckedControl } from '../../core/run/check-control.ts';
import { inBackground, signalInOrder } from '../shared/background.ts';
import { isStoreFault, readFailure } from '../shared/failures.ts';
import { pauseSignal, resumeSignal, stopSignal } from '../shared/messages.ts';
import { floodSignal, sentSignalName, splitFlood } from '../shared/signal-intake.ts';

type Order = SignalDefinition<[unknown]>;
type Send = (order: Order, payload: unknown) => void;

/** Longest wait for a resume: whoever brings the store back may not know of the evaluation. */
const parkMax = '1 hour';

/**
 * Takes what people tell an evaluation and passes it on to the runs of its cells: a stop, a pause, and its end. A cell that
 * starts meanwhile is told too. Cells whose judgement finds no store wait here.
 */
export class CellOrders {
  readonly #open = new Map<string, Send>();
  readonly #parked = new Map<object, string>();
  #onChange: () => void = () => {};
  #stopReason: string | null = null;
  #hasFailed = false;
  #pause: { readonly payload: unknown; readonly reason: string } | null = null;

  constructor() {
    const handles = new Map<string, (payload: unknown) => void>();
    const obey = (
      order: Order,
      description: string,
      note: (payload: unknown) => CheckedControl,
    ): void => {
      const handle = (payload: unknown): void => {
        const checked = note(payload);
        // Its runs refuse it too.
        if (!checked.ok) return log.warn(`Signal ${order.name}: ${checked.reason}`);
        for (const send of this.#open.values()) send(order, payload);
        this.#onChange();
      };
      handles.set(order.name, handle);
      setHandler(order, handle, { description });
    };
    obey(stopSignal, 'Stops the open runs; no other starts: {"reason":"…"}', (payload) => {
      const checked = checkControl(payload);
      if (checked.ok) this.#stopReason = checked.reason;
      return checked;
    });
    obey(pauseSignal, 'Pauses the open runs; no other starts: {"reason":"…"}', (payload) => {
      const checked = checkControl(payload);
      if (checked.ok) this.#pause = { payload: payload ?? {}, reason: checked.reason };
      return checked;
    });
    obey(resumeSignal, 'Goes on after pause, or after a parked run was mended: {}', (payload) => {
      const checked = checkResume(payload);
      if (checked.ok && !checked.parkedOnly) this.#pause = null;
      if (checked.ok) this.#parked.clear();
      return checked;
    });
    takeOthers(handles);
  }

  /** @param onChange Called from now on after each order, and when a cell begins or ends to wait. */
  watch(onChange: () => void): void {
    this.#onChange = onChange;
  }

  /** Returns why the evaluation is paused, perhaps empty; null when it is not. */
  pausedReason(): string | null {
    return this.#pause?.reason ?? null;
  }

  /** Returns why the evaluation was stopped, perhaps empty; null when it was not. */
  stopReason(): string | null {
    return this.#stopReason;
  }

  /** Returns why a cell waits; null when none does. */
  parkedReason(): string | null {
    const [reason = null] = this.#parked.values();
    return reason;
  }

  /** Ends the waits of parked cells: the evaluation has failed for another reason, and waits for its cells. */
  fail(): void {
    this.#hasFailed = true;
  }

  /**
   * Parks a cell until a resume, or for an hour, and then does its work again, until the store is back.
   *
   * @param why What `storeFaultOf` returned.
   * @param again `whenOver` takes the place of the work in an evaluation that was stopped or has failed, which does not wait.
   */
  async afterPark<T>(
    why: string,
    again: { readonly work: () => Promise<T>; readonly whenOver: (why: string) => T },
  ): Promise<T> {
    let reason = why;
    for (;;) {
      /* oxlint-disable no-await-in-loop */
      if (!this.#isOver()) await this.#park(reason);
      if (this.#isOver()) return again.whenOver(reason);
      try {
        return await again.work();
      } catch (error) {
        reason = storeFaultOf(error);
      }
      /* oxlint-enable no-await-in-loop */
    }
  }

  async #park(reason: string): Promise<void> {
    const cell = {};
    this.#parked.set(cell, reason);
    this.#onChange();
    await condition(() => !this.#parked.has(cell) || this.#isOver(), parkMax);
    this.#parked.delete(cell);
    this.#onChange();
  }

  #isOver(): boolean {
    return this.#stopReason !== null || this.#hasFailed;
  }

  /** Waits for the end of a run, which is told of every order until then. */
  async untilEnded<T extends Workflow>(
    run: ChildWorkflowHandle<T>,
  ): Promise<WorkflowResultType<T>> {
    const quietly = signalInOrder();
    const send: Send = (order, payload) =>
      inBackground(() => quietly(() => run.signal(order, payload)));
    this.#open.set(run.workflowId, send);
    if (this.#pause !== null) send(pauseSignal, this.#pause.payload);
    if (this.#stopReason !== null) send(stopSignal, { reason: this.#stopReason });
    try {
      return await run.result();
    } finally {
      this.#open.delete(run.workflowId);
    }
  }
}

/**
 * Returns what a cell parks for: the attempts at work that is paid for are used up because the store is away. An
 * evaluation that failed instead would buy its other cells again.
 *
 * @throws every other error.
 */
export function storeFaultOf(error: unknown): string {
  if (isCancellation(error)) throw error;
  const failure = readFailure(error);
  if (!isStoreFault(failure)) throw error;
  return failure.message;
}

/** Takes signals that arrived together, and what no evaluation reads. The default handler comes last: it takes all that came earlier. */
function takeOthers(handles: ReadonlyMap<string, (payload: unknown) => void>): void {
  setHandler(
    floodSignal,
    (flooded, ...args) => {
      for (const { name, payload } of splitFlood(flooded, args))
        (handles.get(name) ?? (() => warnUnknown(name)))(payload);
    },
    { description: 'Many signals that arrived together. Not for people.' },
  );
  setDefaultSignalHandler(warnUnknown);
}

function warnUnknown(name: string): void {
  log.warn(
    `An evaluation takes no signal "${sentSignalName(name)}". Try: stop, pause, resume; everything else goes to its runs.`,
  );
}
