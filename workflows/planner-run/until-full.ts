import { CancellationScope, condition } from '@temporalio/workflow';
import type { RootHost } from '../shared/root-host.ts';

/** Returns true when the run itself ended the wave or design early, and nobody stopped the run. */
export function isEndedEarly(host: RootHost, { status }: { readonly status: string }): boolean {
  return status === 'stopped' && mayGoOn(host);
}

/** Returns true when a cancellation was the run's own. */
export function mayGoOn(host: RootHost): boolean {
  return host.isFull() && !CancellationScope.current().consideredCancelled;
}

/** Does the work of a wave or a design, and cancels it when this execution is full. */
export async function untilFull<T>(host: RootHost, work: () => Promise<T>): Promise<T> {
  const working = new CancellationScope();
  const waiting = new CancellationScope();
  const done = working.run(work);
  const isOver = done.then(
    () => false,
    () => false,
  );
  // It is cancelled with the run, too.
  const full = waiting
    .run(() => condition(() => host.isFull()))
    .then(
      () => true,
      () => false,
    );
  if (await Promise.race([isOver, full])) working.cancel();
  else waiting.cancel();
  return done;
}
