import { setTimeout as sleep } from 'node:timers/promises';
import type { SharedValues } from '../ports/shared-values.ts';

/** Longest wait in milliseconds before a change that another writer has overtaken is made again. */
const waitMaxMs = 200;

/**
 * Changes a value as if nobody else did.
 *
 * @param change Pure, and harmless when it is applied to its own result: a database whose connection is cut may not know that it
 * has been. If it returns no `next`, nothing is written.
 */
export async function changeShared<T>(
  values: SharedValues,
  name: string,
  change: (value: unknown) => { readonly next?: unknown; readonly result: T },
): Promise<T> {
  for (let waitMs = 5; ; waitMs = Math.min(2 * waitMs, waitMaxMs)) {
    // oxlint-disable-next-line no-await-in-loop
    const { value, version } = await values.read(name);
    const { next, result } = change(value);
    // oxlint-disable-next-line no-await-in-loop
    if (next === undefined || (await values.replace(name, next, version))) return result;
    // oxlint-disable-next-line no-await-in-loop
    await sleep(Math.random() * waitMs);
  }
}
