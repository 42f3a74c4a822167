import { condition, log, sleep } from '@temporalio/workflow';
import type { CarriedRun } from '../../contracts/planner-run.ts';
import { isSamePark, parkKind } from '../../core/run/notify.ts';
import { inBackground } from './background.ts';
import { nowMs } from './clock.ts';

/** Permission to start new calls. `paused` is a person's wish, `parked` a fault of the provider or a tenant's budget. */
export interface Control {
  pausedReason(): string | null;
  parkedReason(): string | null;
  /** Unix epoch milliseconds at which the run goes on by itself; null when it does not, or is not parked. */
  parkedUntil(): number | null;
  /** True when the run has gone on by itself and parked again at once for the same reason: a person who was told of the first park knows it. */
  hasParkedAgain(): boolean;
  pause(reason: string): void;
  /** @param until As `parkedUntil`. Default null. Whoever gives one ends the park then. */
  park(reason: string, until?: number | null): void;
  /** Ends both. */
  resume(): void;
  /** Ends the park only. */
  unpark(): void;
  /** Ends the park because its time has come. */
  wake(): void;
  /** Calls `listener` when calls may no longer start or may start again, so that children are informed. */
  subscribe(listener: (change: ControlChange) => void): void;
  /** Resolves when calls may start; throws when cancelled. */
  ready(): Promise<void>;
}

export type ControlChange =
  | { readonly type: 'pause'; readonly reason: string }
  | { readonly type: 'resume' };

/** Reasons for which a workflow stands still from its start, null for none. */
interface InitialControl {
  readonly paused: string | null;
  readonly parked: string | null;
  /** Defined in `Control.hasParkedAgain`. Default false. */
  readonly again?: boolean | undefined;
}

/** @param onChange Called also when only a reason changed, which children need not know. */
export function createControl(initial: InitialControl, onChange: () => void = () => {}): Control {
  let { paused, parked } = initial;
  let until: number | null = null;
  let again = initial.again === true;
  /** Kinds of reasons of the park that stands. */
  const standing = new Set<string>(parked === null ? [] : [parkKind(parked)]);
  /** Unix epoch milliseconds at which the run went on by itself after a park, by the kind of its reason. */
  const woken = new Map<string, number>();
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
  const endPark = (at: number | null): void => {
    parked = null;
    until = null;
    if (at === null) woken.clear();
    else for (const kind of standing) woken.set(kind, at);
    standing.clear();
  };
  const goOn = (): void => {
    if (mayStart()) tell({ type: 'resume' });
    onChange();
  };
  return {
    pausedReason: () => paused,
    parkedReason: () => parked,
    parkedUntil: () => until,
    hasParkedAgain: () => again,
    pause: (reason) =>
      stand(reason, () => {
        paused = reason;
      }),
    park: (reason, asked = null) =>
      stand(reason, () => {
        const kind = parkKind(reason);
        const isKnown = standing.has(kind) || isSamePark(woken.get(kind) ?? null, nowMs());
        const goesOn = parked === null ? isSamePark(newestOf(woken), nowMs()) : again;
        // A person who was told of the park that stands is not told of another reason beside it.
        if (isKnown || parked === null || again) standing.add(kind);
        if (parked === null) log.warn('parked: no call can succeed until somebody resumes');
        // A person must know of a park that does not end by itself.
        again = asked !== null && goesOn && isKnown;
        parked = reason;
        until = asked;
      }),
    resume() {
      if (mayStart()) return;
      paused = null;
      endPark(null);
      goOn();
    },
    unpark() {
      if (parked === null) return;
      endPark(null);
      goOn();
    },
    wake() {
      if (parked === null) return;
      endPark(nowMs());
      goOn();
    },
    subscribe: (listener) => void listeners.push(listener),
    ready: () => condition(mayStart),
  };
}

function newestOf(times: ReadonlyMap<string, number>): number | null {
  return times.size === 0 ? null : Math.max(...times.values());
}

/** Longest wait in milliseconds. What is still missing then parks the run again. */
const parkMaxMs = 2 * 24 * 60 * 60 * 1_000;

/**
 * Creates a function that parks a topmost workflow and, where a time is given, ends the park then. A newer park with another
 * time, or without one, takes its place. Parks until the same time share one timer.
 *
 * @param carried What the execution before carried over, null at the start of a run.
 */
export function createParking(
  control: Control,
  carried: Pick<CarriedRun, 'parked_reason' | 'parked_until'> | null,
): (reason: string, until?: number) => void {
  const awaited = new Set<number>();
  const wake = async (until: number): Promise<void> => {
    const waitMs = Math.min(Math.max(until - nowMs(), 0), parkMaxMs);
    await sleep(waitMs, { summary: 'the run goes on' });
    awaited.delete(until);
    if (control.parkedUntil() === until) control.wake();
  };
  const park = (reason: string, until?: number): void => {
    control.park(reason, until);
    if (until === undefined || awaited.has(until)) return;
    awaited.add(until);
    inBackground(() => wake(until));
  };
  const { parked_reason = null, parked_until } = carried ?? {};
  if (parked_reason !== null && parked_until !== undefined) park(parked_reason, parked_until);
  return park;
}
