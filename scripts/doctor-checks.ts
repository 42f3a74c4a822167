import { existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { loadAgents } from '../activities/adapters/agent-files.ts';
import { openStores } from '../activities/adapters/open-stores.ts';
import { isPriced, pricesAsOf } from '../activities/adapters/prices.ts';
import { AgentFilesInvalid } from '../activities/ports/agent-source.ts';
import { StoreUnavailable } from '../activities/ports/artifact-store.ts';
import type { Stores } from '../activities/ports/stores.ts';
import type { ThreadStore } from '../activities/ports/thread-store.ts';
import type { McpServers } from '../activities/ports/mcp-servers.ts';
import { grantableNames } from '../activities/tools/registry/create-registry.ts';
import { runCommandName } from '../activities/tools/registry/run-command.ts';
import type { DoctorCheck, DoctorFinding } from '../client/cli/cli-deps.ts';
import { loadMiddlewares, loadTools, shippedNames } from '../worker/load-modules.ts';
import { openCommands, type Commands } from '../worker/open-commands.ts';
import { openMcp } from '../worker/open-mcp.ts';
import {
  BadSettings,
  readCommandSettings,
  readMiddlewaresFile,
  readStoreSettings,
  readToolSettings,
  readWorkerSettings,
  shippedAgentsDir,
  type WorkerSettings,
} from '../worker/worker-settings.ts';
import { messageOf } from './bootstrap/expected-error.mjs';
import { findTemporalCli } from './bootstrap/find-temporal-cli.mjs';
import { checkNotify } from './check-notify.ts';
import { checkSettings, describeFolders } from './check-settings.ts';
import { type Settings, findFolderFault, hasModel } from './parts/settings.ts';
import { createStoreCipher } from '../encryption/encrypting-codec.ts';
import { entryPoints } from '../core/text/entry-points.ts';

/** Least free space. With less, a long run may stop, because the server's database and the artifacts grow with it. */
const freeBytesMin = 1_000_000_000;

/** Checks that the artifact home can be written and has room, and that the store can be used. */
async function checkStore(home: string, env: NodeJS.ProcessEnv): Promise<DoctorFinding> {
  const folderFault = findFolderFault(home);
  if (folderFault !== undefined) return { ok: false, ...folderFault };
  let stores: Stores | undefined;
  try {
    stores = openStores({ home, ...readStoreSettings(env) });
    const fault = await stores.findFault();
    if (fault !== null) return { ok: false, detail: fault };
    const { bavail, bsize } = await statfs(home);
    const freeBytes = bavail * bsize;
    const identity = await stores.findIdentity();
    const id = identity === null ? '' : `, id ${identity.id}`;
    const shared = `the store is ${stores.place}${id}; `;
    const detail = `${shared}${home} can be written, ${(freeBytes / 1e9).toFixed(1)} GB free`;
    if (freeBytes >= freeBytesMin) return { ok: true, detail };
    const cure = 'free some disk space, or set PLANWAVE_HOME to another disk';
    return { ok: false, detail, cure };
  } catch (error) {
    if (!(error instanceof StoreUnavailable || error instanceof BadSettings)) throw error;
    return { ok: false, detail: error.message };
  } finally {
    await stores?.close();
  }
}

const anthropicUrl = 'https://api.anthropic.com';
const timeoutMs = 5_000;

/** Checks that the model API of this environment answers and accepts the key. It lists models, which costs nothing. */
export async function checkModel(env: NodeJS.ProcessEnv): Promise<DoctorFinding> {
  let settings: WorkerSettings;
  try {
    settings = readWorkerSettings(env);
  } catch (error) {
    if (!(error instanceof BadSettings)) throw error;
    if (hasModel(env))
      return { ok: false, detail: 'not asked', cure: 'correct the settings first' };
    return {
      ok: true,
      detail: `no ANTHROPIC_API_KEY: ${entryPoints.start} and ${entryPoints.dev} bring the rehearsal model`,
    };
  }
  const baseUrl = settings.baseUrl ?? anthropicUrl;
  try {
    // As the SDK does: the path of the address is kept.
    const response = await fetch(`${baseUrl.replace(/\/$/, '')}/v1/models?limit=1`, {
      headers: { 'x-api-key': settings.apiKey, 'anthropic-version': '2023-06-01' },
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    return judge(response.status, baseUrl, settings.defaultModel);
  } catch (error) {
    return {
      ok: false,
      detail: `${baseUrl} does not answer: ${messageOf(error)}`,
      cure: 'check ANTHROPIC_BASE_URL and the network',
    };
  }
}

function judge(status: number, baseUrl: string, model: string): DoctorFinding {
  if (status === 401 || status === 403) {
    return {
      ok: false,
      detail: `${baseUrl} refuses the key (${status})`,
      cure: 'set ANTHROPIC_API_KEY to a valid key',
    };
  }
  // Local servers often have no list of models; an answer is enough.
  return { ok: true, detail: `${baseUrl} answers (${status}); default model ${model}` };
}

/** Checks that the module of `PLANWAVE_MIDDLEWARES` can be loaded, and lists its content. */
export async function checkMiddlewares(env: NodeJS.ProcessEnv): Promise<DoctorFinding> {
  return checkModule('docs/middlewares.md', async () => {
    const file = readMiddlewaresFile(env);
    const own = (await loadMiddlewares(file)).map(({ name }) => name);
    const brought = file === undefined ? 'no PLANWAVE_MIDDLEWARES' : `${own.join(', ')} of ${file}`;
    return `${shippedNames.join(', ')}; ${brought}`;
  });
}

/** Checks that the module of `PLANWAVE_TOOLS` can be loaded, and lists its content. */
export async function checkTools(env: NodeJS.ProcessEnv): Promise<DoctorFinding> {
  return checkModule('docs/tools.md', async () => {
    const { file } = readToolSettings(env);
    const own = (await loadTools(file)).map(({ spec }) => spec.name);
    return file === undefined
      ? 'the built-in ones; no PLANWAVE_TOOLS'
      : `${own.join(', ')} of ${file}`;
  });
}

/** Starts the servers of `PLANWAVE_MCP`, and shows those that fail. */
export async function checkMcp(env: NodeJS.ProcessEnv): Promise<DoctorFinding> {
  let mcp: McpServers;
  try {
    mcp = openMcp(readToolSettings(env).mcpFiles, env);
  } catch (error) {
    if (!(error instanceof BadSettings)) throw error;
    return { ok: false, detail: error.message, cure: 'correct the file it names (docs/mcp.md)' };
  }
  const names = [...mcp.servers.keys()];
  if (names.length === 0) return { ok: true, detail: 'none; no PLANWAVE_MCP' };
  try {
    const listed = await Promise.allSettled(names.map((name) => mcp.list(name)));
    const faults = listed.flatMap((one) =>
      one.status === 'rejected' ? [messageOf(one.reason)] : [],
    );
    if (faults.length === 0) return { ok: true, detail: names.join(', ') };
    return {
      ok: false,
      detail: faults.join('; '),
      cure: 'as it says there; runs with agents that are granted these tools are refused until then',
    };
  } finally {
    await mcp.close();
  }
}

/** @param page Page of the documentation that shows such a module. */
async function checkModule(page: string, describe: () => Promise<string>): Promise<DoctorFinding> {
  try {
    return { ok: true, detail: await describe() };
  } catch (error) {
    if (!(error instanceof BadSettings)) throw error;
    const [what = '', ...faults] = error.message.split('\n');
    return {
      ok: false,
      detail: [what, ...faults.filter((line) => line.startsWith('- '))].join(' '),
      cure: `correct the module that it names (${page})`,
    };
  }
}

/** Checks whether agents' commands can be confined here. It is no failure if not: runs go on without commands. */
export async function checkCommands(env: NodeJS.ProcessEnv): Promise<DoctorFinding> {
  try {
    const commands = await openCommands(readCommandSettings(env));
    return { ok: true, detail: describeCommands(commands) };
  } catch (error) {
    if (!(error instanceof BadSettings)) throw error;
    return { ok: false, detail: error.message, cure: 'correct the setting that it names' };
  }
}

function describeCommands(commands: Commands): string {
  if (!('runner' in commands)) {
    return `shipped agents go without ${runCommandName}, and agents of yours that are granted it are refused: ${commands.cause}. Cure: ${commands.cure}`;
  }
  return commands.runner.confined
    ? 'they run in a bubblewrap sandbox'
    : 'they run unconfined (PLANWAVE_UNCONFINED_COMMANDS=1), each after an approval';
}

/** Checks that the threads of teams can be read where this environment keeps them. */
export async function checkThreads(home: string, env: NodeJS.ProcessEnv): Promise<DoctorFinding> {
  const file = join(home, 'threads.db');
  let threads: ThreadStore | undefined;
  try {
    const settings = readStoreSettings(env);
    const { threadsUrl, storeUrl, keys } = settings;
    const setting = storeUrl === undefined ? undefined : 'PLANWAVE_STORE_URL';
    const database = threadsUrl === undefined ? setting : 'PLANWAVE_THREADS_URL';
    if (database === undefined && !existsSync(file)) {
      return { ok: true, detail: `${file}, made at its first use` };
    }
    threads = openStores({ home, ...settings, cipher: createStoreCipher(keys) }).threads;
    await threads.load('planwave doctor', { messages: 1, delegations: 1, exceptRun: '' });
    const where = database === undefined ? file : `the database of ${database}`;
    return { ok: true, detail: `${where} can be read` };
  } catch (error) {
    return {
      ok: false,
      detail: messageOf(error),
      cure: 'as it says there; teams work without their threads until then',
    };
  } finally {
    await threads?.close();
  }
}

/**
 * Creates the checks of `planwave doctor` for this machine, besides the server. The worker may have other settings than
 * this shell.
 */
export function createDoctorChecks(settings: Settings): DoctorCheck[] {
  return [
    { name: 'Temporal CLI', run: checkCli },
    { name: 'Settings', run: async () => checkSettings(settings, process.env) },
    { name: 'Model', run: () => checkModel(process.env) },
    { name: 'Prices', run: checkPrices },
    { name: 'Agents', run: checkAgents },
    { name: 'Commands', run: () => checkCommands(process.env) },
    { name: 'Tools', run: () => checkTools(process.env) },
    { name: 'MCP servers', run: () => checkMcp(process.env) },
    { name: 'Middlewares', run: () => checkMiddlewares(process.env) },
    { name: 'Files', run: () => checkStore(settings.home, process.env) },
    { name: 'Folders', run: async () => describeFolders(process.env) },
    { name: 'Threads', run: () => checkThreads(settings.home, process.env) },
    { name: 'Notifications', run: async () => checkNotify(process.env) },
  ];
}

async function checkCli(): Promise<DoctorFinding> {
  try {
    const { path, version, source } = await findTemporalCli();
    return { ok: true, detail: `${version} (${source}): ${path}` };
  } catch (error) {
    return { ok: false, detail: messageOf(error), cure: 'set TEMPORAL_CLI_PATH to a Temporal CLI' };
  }
}

async function checkPrices(): Promise<DoctorFinding> {
  const model = modelName();
  // An unknown price is no failure: a run counts its tokens and says so.
  const word = isPriced(model) ? 'known' : 'unknown; runs will say "cost unknown"';
  return { ok: true, detail: `price of ${model} as of ${pricesAsOf}: ${word}` };
}

/** Returns the default model; without a key, `npm start` and `npm run dev` start the rehearsal model. */
function modelName(): string {
  try {
    return readWorkerSettings(process.env).defaultModel;
  } catch {
    return 'rehearsal';
  }
}

async function checkAgents(): Promise<DoctorFinding> {
  try {
    const agents = await loadAgents([shippedAgentsDir], {
      knownTools: grantableNames,
    });
    return { ok: true, detail: agents.map(({ agent_id }) => agent_id).join(', ') };
  } catch (error) {
    if (!(error instanceof AgentFilesInvalid)) throw error;
    const faults = error.faults.map(({ file, line, reason }) => `${file}:${line} ${reason}`);
    return { ok: false, detail: faults.join('; '), cure: 'correct the files it names' };
  }
}
