import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { probeSandbox } from '../../activities/adapters/sandbox/probe-sandbox.ts';
import { createFileArtifactStore } from '../../activities/adapters/file-store/file-artifact-store.ts';
import {
  createFileReplyLedger,
  createFileRunIndex,
} from '../../activities/adapters/file-store/file-ledgers.ts';
import { openSegments } from '../../activities/adapters/file-store/segments.ts';
import { startRehearsalServer } from '../../rehearsal/server/server.ts';
import type { RehearsalServer } from '../../rehearsal/server/server.ts';
import { readCommandSettings } from '../../worker/worker-settings.ts';
import { buildWorker } from '../support/built-script.ts';
import type { BuiltScript } from '../support/built-script.ts';
import { createReplayer } from '../support/histories.ts';
import type { Replayer } from '../support/histories.ts';
import { oddServerFile } from '../support/mcp/odd-servers.ts';
import { startBuiltWorker } from '../support/worker-process.ts';
import type { ScriptProcess } from '../support/worker-process.ts';
import { startOwnServer } from '../support/own-server.ts';
import type { OwnServer } from '../support/own-server.ts';
import { changeCheckout, otherText } from '../slow/deploys/changed-checkout.ts';
import type { JudgedStores } from './read-attempts.ts';
import { openSharedStore } from './shared-store.ts';
import { openTcpGate } from './tcp-gate.ts';
import type { TcpGate } from './tcp-gate.ts';

/** A place to play one run after another: a model server, a home and a task queue, and the workers that serve it. */
export interface Lane {
  readonly client: Client;
  readonly rehearsal: RehearsalServer;
  readonly home: string;
  readonly stored: JudgedStores;
  /** Folders of the user are below it. */
  readonly workspaces: string;
  /** Notes of the MCP server that the workers may call. */
  readonly callLog: string;
  /** Whether agents' commands can be confined on this machine. */
  readonly hasSandbox: boolean;
  /** Replays the histories of all its runs. */
  readonly replayer: Replayer;
  readonly taskQueue: string;
  /** Between the workers and the Temporal server. */
  readonly gate: TcpGate;
  /** Set when the lane has its Temporal server for itself and may kill it. */
  readonly server: OwnServer | null;
  /** The worker processes that are alive, the oldest first. */
  readonly workers: readonly ScriptProcess[];
  /** Takes the ends of workers that nobody killed and no suspension explains, each with the last lines that it printed. */
  takeOwnEnds(): string[];
  /** Order to a worker's fault points (`test/support/fault-points.mjs`), and the lines of what stalled its event loop. */
  readonly faultFile: string;
  readonly stallFile: string;
  /** Reads those lines. */
  readStalls(): string[];
  /** Starts one more worker process. Resolves with the Unix epoch milliseconds at which it polls. */
  startWorker(options?: WorkerOptions): Promise<number>;
  /** kill -9. Resolves when it is gone. */
  killWorker(worker: ScriptProcess): Promise<void>;
  /** Removes what runs have left, which each judgement of a run would read. No run may be open. */
  clear(): Promise<void>;
  /** Makes all that runs have stored readable below `home`, where it is anyway unless the workers have homes of their own. */
  collect(runIds: readonly string[]): Promise<void>;
  /** Whether the ledger holds the reply of a call, so that it must not be bought again. */
  isRecorded(call: RecordedActivity): Promise<boolean>;
  close(): Promise<void>;
}

export interface WorkerOptions {
  /** Milliseconds that its time of day is beside the true one. Default 0. */
  readonly clockOffsetMs?: number | undefined;
  /** Whether its workflow code is another version, which replays the same histories. Default false. */
  readonly otherVersion?: boolean | undefined;
}

interface RecordedActivity {
  readonly workflowId: string;
  readonly runId: string;
  readonly activityId: string;
}

export interface LaneOptions {
  /** `host:port` of the Temporal server. */
  readonly address: string;
  readonly server?: OwnServer;
  /** Milliseconds that a model call takes. Default 100: long enough for calls to overlap. */
  readonly thinkMs?: number;
  /** Variables of a store that the workers share; each of them then has a home of its own. If undefined: all have one home. */
  readonly store?: Readonly<Record<string, string>>;
  /** Built worker of this checkout, which the lane leaves where it is. If undefined, the lane builds its own. */
  readonly workerFile?: string;
}

/**
 * Text that Node prints when the SDK's limit of 5 s for a workflow task, which passes while a worker is suspended, has cut
 * that task off (decision 0018).
 */
const starvedEnd = 'async hook stack has become corrupted';

const faultPoints = fileURLToPath(new URL('../support/fault-points.mjs', import.meta.url));

export async function openLane(options: LaneOptions): Promise<Lane> {
  const { address, server, thinkMs = 100, store, workerFile } = options;
  const home = mkdtempSync(join(tmpdir(), 'planwave-chaos-'));
  const taskQueue = `chaos-${randomUUID().slice(0, 8)}`;
  const rehearsal = await startRehearsalServer({ port: 0, thinkMs });
  const gate = await openTcpGate(address);
  const connection = await Connection.connect({ address, connectTimeout: '1 minute' });
  const shared = store === undefined ? null : openSharedStore(store, home);
  let stored = shared?.stored ?? openFiles(home);
  const workers: ScriptProcess[] = [];
  const built = workerFile === undefined ? await buildWorker() : { file: workerFile, remove() {} };
  const replayer = createReplayer();
  const faultFile = join(home, '.fault.json');
  const stallFile = join(home, '.stalls');
  // A user's folder is no part of the home.
  const aside = mkdtempSync(join(tmpdir(), 'planwave-chaos-user-'));
  const workspaces = join(aside, 'workspaces');
  mkdirSync(workspaces);
  const callLog = join(aside, 'calls.log');
  const serversFile = writeServers(aside, callLog);
  const { ok: hasSandbox } = await probeSandbox(readCommandSettings({}));
  let other: BuiltScript | null = null;
  let ownEnds: string[] = [];
  const forget = (worker: ScriptProcess): boolean => {
    const at = workers.indexOf(worker);
    if (at >= 0) workers.splice(at, 1);
    return at >= 0;
  };
  const killWorker = async (worker: ScriptProcess): Promise<void> => {
    forget(worker);
    worker.signal('SIGKILL');
    await worker.ended;
  };
  const watchEnd = async (worker: ScriptProcess): Promise<void> => {
    const how = await worker.ended;
    // It notes that it obeyed an order to die at a write.
    const isOrdered = existsSync(`${faultFile}.${worker.pid}`);
    const output = worker.output();
    if (!forget(worker) || isOrdered || output.includes(starvedEnd)) return;
    ownEnds.push(`a worker ended by itself (${how}): ${lastLines(worker)}`);
  };
  return {
    client: new Client({ connection }),
    rehearsal,
    home,
    get stored() {
      return stored;
    },
    workspaces,
    callLog,
    hasSandbox,
    replayer,
    taskQueue,
    gate,
    server: server ?? null,
    workers,
    takeOwnEnds() {
      const taken = ownEnds;
      ownEnds = [];
      return taken;
    },
    faultFile,
    stallFile,
    readStalls: () =>
      existsSync(stallFile) ? readFileSync(stallFile, 'utf8').trim().split('\n') : [],
    async startWorker({ clockOffsetMs = 0, otherVersion = false } = {}) {
      if (otherVersion) other ??= await buildOther();
      const env = {
        NODE_OPTIONS: `--import=${faultPoints}`,
        FAULT_FILE: faultFile,
        STALL_FILE: stallFile,
        CLOCK_OFFSET_MS: String(clockOffsetMs),
        PLANWAVE_WORKSPACES: workspaces,
        PLANWAVE_MCP: serversFile,
        ...store,
      };
      const ownHome = shared === null ? home : mkdtempSync(join(aside, 'worker-'));
      const place = { address: gate.address, taskQueue, home: ownHome, rehearsal };
      const worker = await startPatiently(() =>
        startBuiltWorker(otherVersion ? (other ?? built).file : built.file, place, env),
      );
      workers.push(worker);
      void watchEnd(worker);
      return Date.now();
    },
    killWorker,
    async clear() {
      await Promise.all([...workers].map(killWorker));
      for (const folder of [home, workspaces]) {
        rmSync(folder, { recursive: true });
        mkdirSync(folder, { mode: 0o700 });
      }
      stored = shared?.stored ?? openFiles(home);
    },
    collect: async (runIds) => shared?.collect(runIds),
    async isRecorded({ workflowId, runId, activityId }) {
      const key = { workflow_id: workflowId, run_id: runId, activity_id: activityId };
      const entries = await stored.ledger.find(key);
      return entries.some(
        (entry) =>
          typeof entry === 'object' && entry !== null && 'result' in entry && entry.result !== null,
      );
    },
    async close() {
      await Promise.all([...workers].map(killWorker));
      await gate.close();
      await rehearsal.close();
      await connection.close();
      await replayer.close();
      await shared?.close();
      other?.remove();
      built.remove();
      for (const folder of [home, aside]) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Opens the files of a home to be read again and again, as other processes write them. */
function openFiles(home: string): JudgedStores {
  const segments = openSegments({ home, cacheMaxBytes: 0 });
  return {
    store: createFileArtifactStore({ segments }),
    index: createFileRunIndex({ home }),
    ledger: createFileReplyLedger({ segments }),
  };
}

/** Returns the last lines that a worker printed. */
export function lastLines(worker: ScriptProcess): string {
  return worker.output().trimEnd().split('\n').slice(-5).join(' | ').slice(-2_000);
}

/** Builds a worker whose workflow code is another version. */
async function buildOther(): Promise<BuiltScript> {
  const checkout = changeCheckout([otherText]);
  const { file, remove } = await buildWorker(checkout.root);
  return {
    file,
    remove() {
      remove();
      checkout.remove();
    },
  };
}

/** Writes the entry of an MCP server that acts, and notes its calls. */
function writeServers(folder: string, callLog: string): string {
  const file = join(folder, 'servers.json');
  const args = [oddServerFile, '--log', callLog];
  const odd = { command: process.execPath, args, planwave: { brings: [] } };
  writeFileSync(file, JSON.stringify({ mcpServers: { odd } }));
  return file;
}

/** Starts a worker again that ended because a busy server did not answer, as a supervisor does. */
async function startPatiently(start: () => Promise<ScriptProcess>): Promise<ScriptProcess> {
  for (let left = 4; left > 0; left -= 1) {
    try {
      return await start();
    } catch {
      // The last attempt tells why.
    }
  }
  return start();
}

/** Arguments of a server that wants workflows to continue as new early. */
export const shortHistories: readonly string[] = [
  '--dynamic-config-value=limit.historyCount.suggestContinueAsNew=80',
];

/** Opens lanes with a server each: one that is killed is nobody else's. */
export async function openOwnLanes(
  count: number,
  serverArguments: readonly string[] = [],
): Promise<Lane[]> {
  const lanes: Lane[] = [];
  for (let index = 0; index < count; index += 1) {
    const server = await startOwnServer(serverArguments);
    lanes.push(await openLane({ address: server.address, server }));
  }
  return lanes;
}

/** Closes them and their servers. */
export async function closeOwnLanes(lanes: readonly Lane[]): Promise<void> {
  for (const lane of lanes) {
    await lane.close();
    await lane.server?.stop();
  }
}
