import { DefaultLogger, Runtime } from '@temporalio/worker';
import type { RuntimeOptions } from '@temporalio/worker';

let isInstalled = false;

/** Lets the SDK log errors only. A process has one runtime for all of its test files: the first call decides. */
export function quietRuntime(telemetryOptions: RuntimeOptions['telemetryOptions'] = {}): void {
  if (isInstalled) return;
  isInstalled = true;
  Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions, shutdownSignals: [] });
}
