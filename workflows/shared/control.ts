import { condition } from '@temporalio/workflow';

/** Whether this workflow may start new calls. `paused` is a person's wish, `parked` a fault of the provider. */
export interface Control {
  pausedReason(): string | null;
  parkedReason(): string | null;
  pause(reason: string): void;
  park(reason: string): void;
  /** Ends both. */
  resume(): void;
  /** Calls `listener` after every change, to pass it on to children and views. */
  subscribe(listener: (change: ControlChange) => void): void;
  /** Resolves when calls may start; throws when cancelled. */
  ready(): Promise<void>;
}

export type ControlChange =
  | { readonly type: 'pause'; readonly reason: string }
  | { readonly type: 'resume' };

export function createControl(initial: {
  readonly paused: string | null;
  readonly parked: string | null;
}): Control {
  let { paused, parked } = initial;
  const listeners: ((change: ControlChange) => void)[] = [];
  const tell = (change: ControlChange): void => {
    for (const listener of listeners) listener(change);
  };
  const mayStart = (): boolean => paused === null && parked === null;
  return {
    pausedReason: () => paused,
    parkedReason: () => parked,
    pause(reason) {
      paused = reason;
      tell({ type: 'pause', reason });
    },
    park(reason) {
      parked = reason;
      tell({ type: 'pause', reason });
    },
    resume() {
      if (mayStart()) return;
      paused = null;
      parked = null;
      tell({ type: 'resume' });
    },
    subscribe: (listener) => void listeners.push(listener),
    ready: () => condition(mayStart),
  };
}
