import { setImmediate as turn } from 'node:timers/promises';
import { RootCancellationScope } from '@temporalio/workflow/lib/cancellation-scope.js';
import { inBackground } from '../../workflows/shared/background.ts';

/** Global variable in which the SDK keeps the workflow at work. */
const activator = '__TEMPORAL_ACTIVATOR__';

it('a side task that fails outside of every workflow rejects nothing, which would end the worker', async () => {
  Reflect.set(globalThis, activator, { rootScope: new RootCancellationScope() });
  let fail: ((error: Error) => void) | undefined;
  let hasEnded = false;
  inBackground(async () => {
    await new Promise((_resolve, reject) => (fail = reject)).finally(() => (hasEnded = true));
  });
  Reflect.deleteProperty(globalThis, activator);
  fail?.(new Error('setCurrentDetails() may only be used from a Workflow Execution.'));
  // vitest fails the whole run at a rejection that is left unhandled.
  await turn();
  expect(hasEnded).toBe(true);
});
