import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { createFileProjection } from '../activities/adapters/file-projection.ts';
import { createFileArtifactStore } from '../activities/adapters/file-store/file-artifact-store.ts';
import { checkHome } from '../activities/adapters/file-store/check-home.ts';
import { createFileRunIndex } from '../activities/adapters/file-store/file-run-index.ts';
import { findHomeFault } from '../activities/adapters/file-store/home-format.ts';
import { pruneHome } from '../activities/adapters/file-store/prune-home.ts';
import { createFileReplyLedger } from '../activities/adapters/file-store/file-reply-ledger.ts';
import { openSegments } from '../activities/adapters/file-store/segments.ts';
import type { Segments } from '../activities/adapters/file-store/segments.ts';
import { ThreadUnavailable } from '../activities/ports/thread-store.ts';
import type { ThreadStore } from '../activities/ports/thread-store.ts';
import {
  redactLedger,
  redactProjection,
  redactThreads,
} from '../activities/redaction/redact-ports.ts';
import {
  exportRun,
  UnknownRun,
  readStoredResult,
  readStoredStatus,
} from '../activities/run-record/export-run.ts';
import type { PageSources } from '../activities/run-record/read-page.ts';
import { readStoredPlan } from '../activities/run-record/stored-plan.ts';
import type { CliAgents, CliDeps, CliMcp, CliPages, CliThreads } from '../client/cli/cli-deps.ts';
import { badInput, CliError, exitCodes } from '../client/cli/cli-error.ts';
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
  readToolSettings,
  readThreadsUrl,
} from '../worker/worker-settings.ts';
import { createDoctorChecks } from './doctor-checks.ts';
import type { Settings } from './parts/settings.ts';
import { partEnvironment } from './parts/settings.ts';
import { createPageDiff, createRunChanges } from './run-changes.ts';
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
  const segments = openSegments({ home });
  const files = {
    store: createFileArtifactStore({ segments }),
    index: createFileRunIndex({ home }),
    projection: redactProjection(createFileProjection({ home }), redactor),
  };
  return {
    io: createProcessIo(),
    env: partEnvironment(settings, temporalAddress),
    // npm runs scripts in the package's folder; a user means the current one.
    cwd: process.env['INIT_CWD'] ?? process.cwd(),
    checkInput: (workflowType, input) => checkInput(home, workflowType, input),
    exportRun: async (runId) => {
      await checkFormat(home);
      const { root } = await exportRun(files, runId).catch(nameUnknownRun);
      return { path: join(home, root) };
    },
    readResult: async (runId) => {
      await checkFormat(home);
      return readStoredResult(files, runId);
    },
    readArtifact: async (ref) => {
      await checkFormat(home);
      return files.store.getText(ref);
    },
    readStoredStatus: async (runId) => {
      await checkFormat(home);
      return readStoredStatus(files, runId);
    },
    pages: createPages(home, segments, files, redactor),
    changes: createRunChanges(home, files),
    agents: {
      load: async (dir) => (await loadCliAgents()).load(dir),
      check: async (text) => (await loadCliAgents()).check(text),
    },
    mcp: {
      list: async (dir) => (await loadCliMcp()).list(dir),
      check: async (dir, name) => (await loadCliMcp()).check(dir, name),
    },
    readPlan: async (runId, version) => {
      await checkFormat(home);
      return readStoredPlan(files, runId, version).catch(nameUnknownRun);
    },
    prune: async (options) => {
      await checkFormat(home);
      return pruneHome({ home, segments, store: files.store, ...options });
    },
    checkHome: async (options) => {
      await checkFormat(home);
      return checkHome({ home, store: files.store, ...options });
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

/** Reads runs as people look at them. The texts were redacted when they were stored. */
function createPages(
  home: string,
  segments: Segments,
  { store, index }: Pick<PageSources, 'store' | 'index'>,
  redactor: Redactor,
): CliPages {
  const ledger = redactLedger(createFileReplyLedger({ segments }), redactor);
  return {
    list: async () => {
      await checkFormat(home);
      return index.list();
    },
    read: async (runId) => {
      await checkFormat(home);
      // No other command has to load the stages of prompts.
      const { readRunPage } = await import('../activities/run-record/read-page.ts');
      return readRunPage({ store, index, ledger, diff: createPageDiff(home) }, runId);
    },
    readVersion: async (runId) => {
      await segments.refresh();
      const { version } = await index.read(runId);
      return `${version} ${segments.listAttempts(0).length}`;
    },
  };
}

/** Loads what reading agents takes only for the commands that need it. */
async function loadCliAgents(): Promise<CliAgents> {
  const { createCliAgents } = await import('./cli-agents.ts');
  return createCliAgents();
}

async function loadCliMcp(): Promise<CliMcp> {
  const { createCliMcp } = await import('./cli-mcp.ts');
  return createCliMcp(process.env);
}

/** Checks an input as a worker of this machine does. Loads what that takes only for the commands that start something. */
async function checkInput(
  home: string,
  workflowType: OpenRunInput['workflow_type'],
  input: object,
): Promise<void> {
  const { createInputCheck } = await import('../worker/create-input-check.ts');
  const { loadMiddlewares } = await import('../worker/load-middlewares.ts');
  const { loadTools } = await import('../worker/load-tools.ts');
  try {
    const check = createInputCheck(
      home,
      await loadMiddlewares(readMiddlewaresFile(process.env)),
      await loadTools(readToolSettings(process.env).file),
    );
    await check({ workflow_type: workflowType, input });
  } catch (error) {
    if (error instanceof BadSettings) throw badInput(error.message);
    if (!(error instanceof ApplicationFailure)) throw error;
    const hint = 'If the worker has other files or middlewares than this machine: --no-check';
    throw badInput(`${error.message}\n${hint}`);
  }
}

/** @throws {CliError} when the artifact home has a format that this planwave can't read. */
async function checkFormat(home: string): Promise<void> {
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
