import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { createFileReplyLedger } from '../../activities/adapters/file-store/file-reply-ledger.ts';
import { startRehearsalServer } from '../../rehearsal/server/server.ts';
import type { RehearsalServer } from '../../rehearsal/server/server.ts';
import { startWorkerProcess } from '../support/worker-process.ts';
import type { ScriptProcess } from '../support/worker-process.ts';
import type { OwnServer } from '../support/own-server.ts';
import { openTcpGate } from './tcp-gate.ts';
import type { TcpGate } from './tcp-gate.ts';

/** A place to play one run after another: a model server, a home and a task queue, and the workers that serve it. */
export interface Lane {
  readonly client: Client;
  readonly rehearsal: RehearsalServer;
  readonly home: string;
  readonly taskQueue: string;
  /** Between the workers and the Temporal server. */
  readonly gate: TcpGate;
  /** Set when the lane has its Temporal server for itself and may kill it. */
  readonly server: OwnServer | null;
  /** The worker processes that are alive, the oldest first. */
  readonly workers: readonly ScriptProcess[];
  /** Starts one more worker process. Resolves with the Unix epoch milliseconds at which it polls. */
  startWorker(): Promise<number>;
  /** kill -9. Resolves when it is gone. */
  killWorker(worker: ScriptProcess): Promise<void>;
  /** Whether the ledger holds the reply of a call, so that it must not be bought again. */
  isRecorded(call: RecordedActivity): Promise<boolean>;
  close(): Promise<void>;
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
}

export async function openLane({ address, server, thinkMs = 100 }: LaneOptions): Promise<Lane> {
  const home = mkdtempSync(join(tmpdir(), 'planwave-chaos-'));
  const taskQueue = `chaos-${randomUUID().slice(0, 8)}`;
  const rehearsal = await startRehearsalServer({ port: 0, thinkMs });
  const gate = await openTcpGate(address);
  const connection = await Connection.connect({ address });
  const ledger = createFileReplyLedger({ home });
  const workers: ScriptProcess[] = [];
  const killWorker = async (worker: ScriptProcess): Promise<void> => {
    worker.signal('SIGKILL');
    await worker.ended;
    workers.splice(workers.indexOf(worker), 1);
  };
  return {
    client: new Client({ connection }),
    rehearsal,
    home,
    taskQueue,
    gate,
    server: server ?? null,
    workers,
    async startWorker() {
      workers.push(await startWorkerProcess({ address: gate.address, taskQueue, home, rehearsal }));
      return Date.now();
    },
    killWorker,
    async isRecorded({ workflowId, runId, activityId }) {
      const key = { workflow_id: workflowId, run_id: runId, activity_id: activityId };
      const entries = await ledger.find(key);
      return entries.some(
        (entry) =>
          typeof entry === 'object' && entry !== null && 'result' in entry && entry.result !== null,
      );
    },
    async close() {
      await Promise.all(workers.map(killWorker));
      await gate.close();
      await rehearsal.close();
      await connection.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
