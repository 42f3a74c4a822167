import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { createFileProjection } from '../activities/adapters/file-projection.ts';
import { createFileArtifactStore } from '../activities/adapters/file-store/file-artifact-store.ts';
import { createFileRunIndex } from '../activities/adapters/file-store/file-run-index.ts';
import { findHomeFault } from '../activities/adapters/file-store/home-format.ts';
import { pruneHome } from '../activities/adapters/file-store/prune-home.ts';
import { ThreadUnavailable } from '../activities/ports/thread-store.ts';
import type { ThreadStore } from '../activities/ports/thread-store.ts';
import { redactProjection, redactThreads } from '../activities/redaction/redact-ports.ts';
import {
  UnknownRun,
  exportRun,
  readStoredResult,
  readStoredStatus,
} from '../activities/run-record/export-run.ts';
import type { CliDeps, CliThreads } from '../client/cli/cli-deps.ts';
import { CliError, badInput, exitCodes } from '../client/cli/cli-error.ts';
import { createProcessIo } from '../client/cli/cli-io.ts';
import type { ClientTracing } from '../client/cli/cli-session.ts';
import { PlanwaveClientError } from '../client/client-error.ts';
import type { OpenRunInput } from '../contracts/activity-types.ts';
import { createRedactor } from '../redaction/create-redactor.ts';
import type { Redactor } from '../redaction/create-redactor.ts';
import { collectOwnSecrets } from '../redaction/own-secrets.ts';
import {
  BadSettings,
  isTraced,
  readMiddlewaresFile,
  readThreadsUrl,
} from '../worker/worker-settings.ts';
import { createDoctorChecks } from './doctor-checks.ts';
import { type Settings, partEnvironment } from './parts/settings.ts';
import { createRunChanges } from './run-changes.ts';
import { runTemporalCli } from './temporal-cli.ts';

/**
 * Opens the threads where this environment keeps them. A name is redacted as a worker does it, so that what it has added
 * is found.
 *
 * @param home absolute.
 */
export function createCliThreads(
  home: string,
  env: NodeJS.ProcessEnv,
  redactor: Redactor,
): CliThreads {
  async function use<T>(work: (threads: ThreadStore) => Promise<T>): Promise<T> {
    let threads: ThreadStore | undefined;
    try {
      const threadsUrl = readThreadsUrl(env);
      // No other command has to load the databases.
      const { createThreadStore } =
        await import('../activities/adapters/thread-store/create-thread-store.ts');
      threads = redactThreads(createThreadStore({ home, threadsUrl }), redactor);
      return await work(threads);
    } catch (error) {
      throw inWordsOfTheCommandLine(error);
    } finally {
      await threads?.close();
    }
  }

  return {
    list: (options) => use((threads) => threads.list(options)),
    read: (threadId, limit) => use((threads) => threads.read(threadId, limit)),
    count: (which) => use((threads) => threads.count(which)),
    remove: (which) => use((threads) => threads.remove(which)),
  };
}

function inWordsOfTheCommandLine(error: unknown): unknown {
  if (error instanceof BadSettings) return badInput(error.message);
  if (!(error instanceof ThreadUnavailable)) return error;
  return new CliError('threads_unavailable', exitCodes.unmet, error.message);
}

/**
 * Creates the parts of this machine that the client's command line needs: its terminal, the files under `PLANWAVE_HOME`
 * and the Temporal CLI. The client itself knows only contracts.
 *
 * @param temporalAddress `host:port` of the commands' server
 */
export function createCliDeps(settings: Settings, temporalAddress: string): CliDeps {
  const { home } = settings;
  const redactor = createRedactor({ secrets: collectOwnSecrets(process.env) });
  const files = {
    store: createFileArtifactStore({ home }),
    index: createFileRunIndex({ home }),
    projection: redactProjection(createFileProjection({ home }), redactor),
  };
  return {
    io: createProcessIo(),
    version: readVersion(),
    env: partEnvironment(settings, temporalAddress),
    // npm runs scripts in the package's folder; a user means the current one.
    cwd: process.env['INIT_CWD'] ?? process.cwd(),
    checkInput: (workflowType, input) => checkInput(home, workflowType, input),
    exportRun: async (runId) => {
      await checkHome(home);
      const { root } = await exportRun(files, runId).catch(nameUnknownRun);
      return { path: join(home, root) };
    },
    readResult: async (runId) => {
      await checkHome(home);
      return readStoredResult(files, runId);
    },
    readArtifact: async (ref) => {
      await checkHome(home);
      return files.store.getText(ref);
    },
    readStoredStatus: async (runId) => {
      await checkHome(home);
      return readStoredStatus(files, runId);
    },
    changes: createRunChanges(home, files),
    prune: async (options) => {
      await checkHome(home);
      return pruneHome({ home, store: files.store, ...options });
    },
    threads: createCliThreads(home, process.env, redactor),
    doctorChecks: createDoctorChecks(settings),
    async *replayHistories(histories) {
      // Other commands need not load the worker's SDK.
      const { replayQuietly } = await import('../worker/replay-histories.ts');
      yield* replayQuietly(histories);
    },
    runTemporalCli,
    startTracing: isTraced(process.env) ? () => loadTracing(redactor) : undefined,
  };
}

/** Checks an input as a worker of this machine does. Loads what that takes only for the commands that start something. */
async function checkInput(
  home: string,
  workflowType: OpenRunInput['workflow_type'],
  input: object,
): Promise<void> {
  const { createInputCheck } = await import('../worker/create-input-check.ts');
  const { loadMiddlewares } = await import('../worker/load-middlewares.ts');
  try {
    const check = createInputCheck(home, await loadMiddlewares(readMiddlewaresFile(process.env)));
    await check({ workflow_type: workflowType, input });
  } catch (error) {
    if (error instanceof BadSettings) throw badInput(error.message);
    if (!(error instanceof ApplicationFailure)) throw error;
    const hint = 'If the worker has other files or middlewares than this machine: --no-check';
    throw badInput(`${error.message}\n${hint}`);
  }
}

function readVersion(): string | undefined {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  const { version }: { readonly version?: string } = JSON.parse(text);
  return version;
}

/** @throws {CliError} when the artifact home has a format that this planwave can't read. */
async function checkHome(home: string): Promise<void> {
  const fault = await findHomeFault(home);
  if (fault !== null) throw badInput(fault);
}

/** Loads the OpenTelemetry SDK only when it is needed. */
async function loadTracing(redactor: Redactor): Promise<ClientTracing> {
  const { startTracing } = await import('../worker/start-tracing.ts');
  return startTracing(redactor);
}

/** Gives the error a code of its own, so that a script recognises it by the exit code. */
function nameUnknownRun(error: unknown): never {
  if (error instanceof UnknownRun) throw new PlanwaveClientError('not_found', error.message);
  throw error;
}
