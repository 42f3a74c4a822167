/** What ended a call: the caller, or one of our limits of silence, duration and size. */
export type StopCause = 'caller' | 'idle' | 'total' | 'size';

export interface CallLimits {
  /** Longest silence, in milliseconds, from the start of the call on. */
  readonly idleTimeoutMs: number;
  /** Longest call, in milliseconds, however lively it is. */
  readonly totalTimeoutMs: number;
}

/** Joins the caller's signal with the limits of a call. The first of them is the cause; later ones change nothing. */
export interface CallWatch {
  readonly signal: AbortSignal;
  /** Rejects when the call is ended from here. Never resolves. */
  readonly ended: Promise<never>;
  /** Who ended the call, or null while nobody did. */
  cause(): StopCause | null;
  /** Something arrived: the silence is over. */
  touch(): void;
  /** Ends the call because its reply is larger than any reply can be. */
  endBySize(): void;
  /** Releases timers and listeners. To be called once the call is over, however it ended. */
  close(): void;
}

export function createCallWatch(caller: AbortSignal, limits: CallLimits): CallWatch {
  const controller = new AbortController();
  let cause: StopCause | null = null;
  let closed = false;
  let rejectEnded: (reason: Error) => void;
  const ended = new Promise<never>((_resolve, reject) => {
    rejectEnded = reject;
  });
  // Nobody has to wait for it.
  ended.catch(() => undefined);

  const end = (by: StopCause) => (): void => {
    if (cause !== null) return;
    cause = by;
    controller.abort();
    rejectEnded(new Error(`ended by ${by}`));
  };
  const endByCaller = end('caller');
  const idleTimer = setTimeout(end('idle'), limits.idleTimeoutMs);
  const totalTimer = setTimeout(end('total'), limits.totalTimeoutMs);
  caller.addEventListener('abort', endByCaller, { once: true });
  if (caller.aborted) endByCaller();

  return {
    signal: controller.signal,
    ended,
    cause: () => cause,
    touch: () => {
      // Refreshing a timer that was cleared would start it again.
      if (cause === null && !closed) idleTimer.refresh();
    },
    endBySize: end('size'),
    close: () => {
      closed = true;
      clearTimeout(idleTimer);
      clearTimeout(totalTimer);
      caller.removeEventListener('abort', endByCaller);
    },
  };
}
