import { condition, log } from '@temporalio/workflow';

/** Permission to start new calls. `paused` is a person's wish, `parked` a fault of the provider. */
export interface Control {
  pausedReason(): string | null;
  parkedReason(): string | null;
  pause(reason: string): void;
  park(reason: string): void;
  /** Ends both. */
  resume(): void;
  /** Calls `listener` when calls may no longer start or may start again, so that children are informed. */
  subscribe(listener: (change: ControlChange) => void): void;
  /** Resolves when calls may start; throws when cancelled. */
  ready(): Promise<void>;
}

export type ControlChange =
  | { readonly type: 'pause'; readonly reason: string }
  | { readonly type: 'resume' };

/** @param onChange Called also when only a reason changed, which children need not know. */
export function createControl(
  initial: { readonly paused: string | null; readonly parked: string | null },
  onChange: () => void = () => {},
): Control {
  let { paused, parked } = initial;
  const listeners: ((change: ControlChange) => void)[] = [];
  const tell = (change: ControlChange): void => {
    for (const listener of listeners) listener(change);
  };
  const mayStart = (): boolean => paused === null && parked === null;
  const stand = (reason: string, note: () => void): void => {
    const stoodAlready = !mayStart();
    note();
    if (!stoodAlready) tell({ type: 'pause', reason });
    onChange();
  };
  return {
    pausedReason: () => paused,
    parkedReason: () => parked,
    pause: (reason) =>
      stand(reason, () => {
        paused = reason;
      }),
    park: (reason) =>
      stand(reason, () => {
        if (parked === null) log.warn('parked: no call can succeed until somebody resumes');
        parked = reason;
      }),
    resume() {
      if (mayStart()) return;
      paused = null;
      parked = null;
      tell({ type: 'resume' });
      onChange();
    },
    subscribe: (listener) => void listeners.push(listener),
    ready: () => condition(mayStart),
  };
}
