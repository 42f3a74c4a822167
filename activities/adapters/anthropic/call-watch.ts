/** Cause of a call's end: the caller, or one of our limits of silence, duration and size. */
export type StopCause = 'caller' | 'idle' | 'total' | 'size';

export interface CallLimits {
  /** Longest silence in milliseconds, counted from the start of the call. */
  readonly idleTimeoutMs: number;
  /** Longest duration of a call in milliseconds, even of an active one. */
  readonly totalTimeoutMs: number;
}

/** Joins the caller's signal with the limits of a call. The first to fire is the cause; later ones change nothing. */
export interface CallWatch {
  readonly signal: AbortSignal;
  /** Rejects when the call is ended from this side. Never resolves. */
  readonly ended: Promise<never>;
  /** Returns the cause of the end, or null while the call goes on. */
  cause(): StopCause | null;
  /** Restarts the idle limit, because data arrived. */
  touch(): void;
  /** Ends the call because its reply is larger than any reply can be. */
  endBySize(): void;
  /** Releases timers and listeners. Must be called once the call has ended in any way. */
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
  // The promise need not be awaited.
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
      // Refreshing a cleared timer would start it again.
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
