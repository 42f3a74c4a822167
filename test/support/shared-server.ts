import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  loadWorkflowBundle,
  readBundle,
  type WorkflowBundle,
} from '../../worker/bundle-workflows.ts';
import { buildWorker } from './built-script.ts';
import { startOwnServer } from './own-server.ts';

/** Environment variables by which the global set-up configures the test files. */
const names = {
  address: 'PLANWAVE_TEST_TEMPORAL',
  ui: 'PLANWAVE_TEST_UI',
  bundle: 'PLANWAVE_TEST_BUNDLE',
  worker: 'PLANWAVE_TEST_WORKER',
};

/**
 * Starts one server and builds one workflow bundle and one worker for all integration tests of a run: starting them
 * costs more than a test.
 */
export async function startShared(): Promise<() => Promise<void>> {
  const [server, forgetBundle, worker] = await Promise.all([
    startOwnServer(),
    provideBundle(),
    buildWorker(),
  ]);
  process.env[names.address] = server.address;
  process.env[names.ui] = server.uiUrl;
  process.env[names.worker] = worker.file;
  return async () => {
    await server.stop();
    forgetBundle();
    worker.remove();
  };
}

/** Bundles the workflows for `sharedBundle`. Resolves with a function that removes the bundle. */
export async function provideBundle(): Promise<() => void> {
  const code = readBundle(await loadWorkflowBundle());
  const folder = mkdtempSync(join(tmpdir(), 'planwave-bundle-'));
  const file = join(folder, 'workflows.js');
  writeFileSync(file, code);
  process.env[names.bundle] = file;
  return () => rmSync(folder, { recursive: true, force: true });
}

export function sharedServer(): { readonly address: string; readonly uiUrl: string } {
  return { address: read(names.address), uiUrl: read(names.ui) };
}

export function sharedBundle(): WorkflowBundle {
  return { codePath: read(names.bundle) };
}

/** Returns the file of a worker that loads in a third of the time that its sources take. */
export function sharedWorker(): string {
  return read(names.worker);
}

function read(name: string): string {
  const value = process.env[name];
  if (value === undefined)
    throw new Error(
      `${name} is not set: this test needs the project "integration" or "slow" of vitest.config.mjs.`,
    );
  return value;
}
