import { join, resolve } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { createFileProjection } from '../activities/adapters/file-projection.ts';
import { copyStores } from '../activities/adapters/copy-stores.ts';
import { openStores } from '../activities/adapters/open-stores.ts';
import type { ProjectionWriter } from '../activities/ports/projection-writer.ts';
import type { Stores } from '../activities/ports/stores.ts';
import { redactProjection } from '../activities/redaction/redact-ports.ts';
import {
  exportRun,
  UnknownRun,
  readStoredResult,
  readStoredStatus,
  readStoredPlan,
} from '../activities/run-record/export-run.ts';
import type { CliAgents, CliDeps, CliMcp, CliPages } from '../client/cli/cli-deps.ts';
import { badInput } from '../client/cli/cli-error.ts';
import { createProcessIo } from '../client/cli/cli-io.ts';
import type { ClientTracing } from '../client/cli/cli-session.ts';
import { PlanwaveClientError } from '../client/client-error.ts';
import type { OpenRunInput } from '../contracts/activity-types.ts';
import type { CopiedStores } from '../contracts/store.ts';
import type { KeyRing } from '../encryption/key-ring.ts';
import { createRedactor, type Redactor } from '../redaction/create-redactor.ts';
import { collectOwnSecrets } from '../redaction/own-secrets.ts';
import {
  BadSettings,
  readKeys,
  readMiddlewaresFile,
  readToolSettings,
  readStoreSettings,
} from '../worker/worker-settings.ts';
import type { KnownEntries } from '../activities/run-record/read-page.ts';
import { isTraced } from '../worker/part-settings.ts';
import { isBuilt, readVersion, root } from './bootstrap/hand-over.mjs';
import { testNotification } from './check-notify.ts';
import {
  createCliBudgets,
  createCliThreads,
  inWordsOfTheCommandLine,
  openCliStores,
} from './cli-stores.ts';
import { createDoctorChecks } from './doctor-checks.ts';
import { type Settings, partEnvironment } from './parts/settings.ts';
import { createPageDiff, createRunChanges } from './run-changes.ts';
import { runTemporalCli } from './temporal-cli.ts';

/**
 * Creates the parts of this machine that the client's command line needs: its terminal, the files under `PLANWAVE_HOME`
 * and the Temporal CLI. The client itself knows only contracts.
 *
 * @param temporalAddress `host:port` of the commands' server
 */
export function createCliDeps(settings: Settings, temporalAddress: string): CliDeps {
  const { home } = settings;
  const redactor = createRedactor({ secrets: collectOwnSecrets(process.env) });
  const keys = readKeys(process.env);
  const projection = redactProjection(createFileProjection({ home }), redactor);
  let stores: Stores | null = null;
  // Opened by the first command that needs it: others work where a setting is wrong.
  const use = async (): Promise<Stores & { readonly projection: ProjectionWriter }> => {
    stores ??= openCliStores(home, process.env);
    const fault = await stores.findFault();
    if (fault !== null) throw badInput(fault);
    return { ...stores, projection };
  };
  return {
    io: createProcessIo(),
    version: readVersion(),
    env: partEnvironment(settings, temporalAddress),
    // npm runs scripts in the package's folder; a user means the current one.
    cwd: process.env['INIT_CWD'] ?? process.cwd(),
    checkout: isBuilt ? undefined : resolve(root),
    checkInput: (workflowType, input) => checkInput(home, workflowType, input),
    exportRun: async (runId) => {
      const { root: path } = await exportRun(await use(), runId).catch(nameUnknownRun);
      return { path: join(home, path) };
    },
    readResult: async (runId) => readStoredResult(await use(), runId),
    readComparedRun: async (runId) => {
      // Of the commands, only this one and those for pages have to load it.
      const { readComparedRun } = await import('../activities/run-record/read-page.ts');
      return readComparedRun(await use(), runId).catch(nameUnknownRun);
    },
    offerFork: async (point) => {
      const { NoFork, NoRunToFork, offerFork } =
        await import('../activities/run-record/fork-run.ts');
      return offerFork(await use(), point).catch((error: unknown) => {
        if (error instanceof NoRunToFork) throw new PlanwaveClientError('not_found', error.message);
        throw error instanceof NoFork ? badInput(error.message) : error;
      });
    },
    readArtifact: async (ref) => (await use()).store.get(ref),
    findStore: async () => (await use()).findIdentity(),
    readStoredStatus: async (runId) => readStoredStatus(await use(), runId),
    pages: createPages(home, use),
    changes: createRunChanges(home, use),
    agents: {
      load: async (dir) => (await loadCliAgents()).load(dir),
      check: async (text) => (await loadCliAgents()).check(text),
      findLacks: async (text) => (await loadCliAgents()).findLacks(text),
    },
    mcp: {
      list: async (dir) => (await loadCliMcp()).list(dir),
      check: async (dir, name) => (await loadCliMcp()).check(dir, name),
    },
    readPlan: async (runId, version) =>
      readStoredPlan(await use(), runId, version).catch(nameUnknownRun),
    prune: async (options) => (await use()).prune(options),
    checkHome: async (options) => (await use()).check(options),
    copyStore: (from, to) => copyStore(home, from, to),
    threads: createCliThreads(home, process.env, redactor),
    budgets: createCliBudgets(home, process.env),
    doctorChecks: createDoctorChecks(settings),
    notificationTest: { name: 'Test message', run: () => testNotification(process.env) },
    keys,
    async *replayHistories(histories, namespace) {
      // Other commands need not load the worker's SDK.
      const { replayQuietly } = await import('../worker/replay-histories.ts');
      yield* replayQuietly(histories, { keys, namespace });
    },
    runTemporalCli,
    startTracing: isTraced(process.env) ? () => loadTracing(redactor, keys) : undefined,
  };
}

/** Reads runs as people look at them. The texts were redacted when they were stored. */
function createPages(home: string, use: () => Promise<Stores>): CliPages {
  const openedAt = Date.now();
  const known: KnownEntries = new Map();
  return {
    list: async () => {
      const { listRunEntries } = await import('../activities/run-record/read-page.ts');
      return listRunEntries(await use(), known);
    },
    read: async (runId) => {
      // No other command has to load the stages of prompts.
      const { readRunPage } = await import('../activities/run-record/read-page.ts');
      return readRunPage({ ...(await use()), diff: createPageDiff(home) }, runId);
    },
    readVersion: async (runId) => {
      const { index, ledger } = await use();
      const [{ version }, calls] = await Promise.all([
        index.read(runId),
        ledger.list(runId, openedAt),
      ]);
      return `${version} ${calls.map(({ written_at }) => written_at).join(' ')}`;
    },
  };
}

/** Loads what reading agents takes only for the commands that need it. */
async function loadCliAgents(): Promise<CliAgents> {
  const { openCliAgents } = await import('./cli-agents.ts');
  return openCliAgents(process.env);
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
  const { loadMiddlewares, loadTools } = await import('../worker/load-modules.ts');
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

/** @throws {CliError} when one of the stores can't be used, or the first one is none. */
async function copyStore(home: string, from: string, to: string): Promise<CopiedStores> {
  const opened: Stores[] = [];
  const open = (place: string): Stores => {
    const isUrl = /^[a-z]+:\/\//i.test(place);
    // A database has the bucket of this environment.
    const setting = isUrl ? { ...bucketVariables(process.env), PLANWAVE_STORE_URL: place } : {};
    const { storeUrl, artifacts } = readStoreSettings(setting);
    const folder = isUrl ? home : resolve(process.env['INIT_CWD'] ?? '.', place);
    const stores = openStores({ home: folder, storeUrl, artifacts, cacheMaxBytes: 0 });
    opened.push(stores);
    return stores;
  };
  try {
    const [source, target] = [open(from), open(to)];
    if (source.place === target.place) throw badInput('Both are the same store.');
    const sourceFault = await source.findFault();
    if (sourceFault !== null) throw badInput(sourceFault);
    const isEmpty = (await source.index.list()).length === 0;
    if (isEmpty) throw badInput(`There are no runs in ${source.place}, so nothing was copied.`);
    const targetFault = await target.open();
    if (targetFault !== null) throw badInput(targetFault);
    return await copyStores(source, target);
  } catch (error) {
    throw inWordsOfTheCommandLine(error);
  } finally {
    await Promise.all(opened.map((stores) => stores.close()));
  }
}

function bucketVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = /^(?:PLANWAVE_ARTIFACTS_URL|AWS_\w+)$/;
  return Object.fromEntries(Object.entries(env).filter(([name]) => names.test(name)));
}

/** Loads the OpenTelemetry SDK only when it is needed. */
async function loadTracing(redactor: Redactor, keys: KeyRing): Promise<ClientTracing> {
  const { startTracing } = await import('../worker/start-tracing.ts');
  return startTracing(redactor, { hidesErrors: keys.ids.length > 0 });
}

/** Gives the error a code of its own, so that a script recognises it by the exit code. */
function nameUnknownRun(error: unknown): never {
  if (error instanceof UnknownRun) throw new PlanwaveClientError('not_found', error.message);
  throw error;
}
