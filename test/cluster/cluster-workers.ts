import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { openTcpGate } from '../chaos/tcp-gate.ts';
import type { TcpGate } from '../chaos/tcp-gate.ts';
import type { Stage } from '../support/stage.ts';
import { startWorkerProcess } from '../support/worker-process.ts';
import type { ScriptProcess } from '../support/worker-process.ts';
import type { Cluster } from './cluster.ts';

/** A worker with a home of its own, whose ways to the Temporal server, the database and the bucket a test may close. */
export interface ClusterWorker {
  readonly gates: readonly TcpGate[];
  readonly process: () => ScriptProcess;
  /** kill -9, and another one in its place. */
  replace(): Promise<void>;
  close(): Promise<void>;
}

export async function startClusterWorker(
  cluster: Cluster,
  stage: Stage,
  name: string,
): Promise<ClusterWorker> {
  const gates: TcpGate[] = [];
  const through = async (address: string): Promise<string> => {
    const gate = await openTcpGate(address);
    gates.push(gate);
    return gate.address;
  };
  const env: Record<string, string> = { ...cluster.env };
  for (const [variable, value] of Object.entries(cluster.env)) {
    const [host] = /127\.0\.0\.1:\d+/.exec(value) ?? [];
    if (host !== undefined) env[variable] = value.replace(host, await through(host));
  }
  const address = await through(cluster.server?.address ?? '');
  const place = { ...stage, address, home: join(cluster.folder, name) };
  const start = () => startWorkerProcess(place, env);
  const end = async (): Promise<void> => {
    current.signal('SIGKILL');
    await current.ended;
  };
  let current = await start();
  return {
    gates,
    process: () => current,
    async replace() {
      await end();
      current = await start();
    },
    async close() {
      await end();
      await Promise.all(gates.map((gate) => gate.close()));
    },
  };
}

/** Clock ticks in a second, as Linux reports them. */
const ticksPerSecond = 100;

/** Returns the processor time in seconds of a process and all below it, also those that have ended. */
export function cpuSecondsOf(pid: number): number {
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(readStat);
  const sum = (id: number): number => {
    const own = processes.find((one) => one.pid === id)?.ticks ?? 0;
    const below = processes.filter((one) => one.parent === id);
    return below.reduce((total, one) => total + sum(one.pid), own);
  };
  return sum(pid) / ticksPerSecond;
}

function readStat(name: string): {
  readonly pid: number;
  readonly parent: number;
  readonly ticks: number;
} {
  try {
    // The name of the program, in parentheses, may hold anything.
    const fields = readFileSync(join('/proc', name, 'stat'), 'utf8')
      .split(') ')
      .at(-1)
      ?.split(' ');
    const [parent = 0, ...times] = [1, 11, 12, 13, 14].map((at) => Number(fields?.[at]));
    return { pid: Number(name), parent, ticks: times.reduce((one, other) => one + other, 0) };
  } catch {
    return { pid: Number(name), parent: 0, ticks: 0 };
  }
}
