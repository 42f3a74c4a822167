import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { BenchWave } from '../bench-wave.ts';
import type { CpuReading } from '../contest.ts';
import { readCpuMs, readFamilyCpuMs, readParent } from '../process-usage.ts';
import type { PeerMessage, PeerRequest, PeerStart } from './peer-messages.ts';

/** Another engine, in a process of its own, with a database of its own. */
export interface PeerProcess {
  /** The server's version, and how far it goes to keep what is committed. */
  readonly postgres: string;
  /** Lets it do the wave to its end. */
  wave(wave: BenchWave, key: string): Promise<void>;
  /** @returns null where processes can't be looked at, or the server is on another machine. */
  readCpu(): Promise<CpuReading | null>;
  stop(): Promise<void>;
}

/** A process that does not end within this is ended by force, in milliseconds. */
const graceMs = 10_000;

/** @param script beside this file. @throws when it does not come up; what it said is on standard error. */
export async function startPeerProcess(script: string, start: PeerStart): Promise<PeerProcess> {
  const path = fileURLToPath(new URL(script, import.meta.url));
  const child = fork(path, [JSON.stringify(start)], {
    execArgv: ['--import', import.meta.resolve('tsx')],
    // What an engine prints is no part of the report.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit');
  const [ready]: unknown[] = await Promise.race([once(child, 'message'), ended]);
  if (!isPeerMessage(ready) || ready.type !== 'ready') {
    throw new Error(
      `${script} did not start; the reason is above. Try: --postgres with the address of a PostgreSQL server that runs`,
    );
  }
  const waiting = createWaiting();
  child.on('message', (message: PeerMessage) => waiting.take(message));
  void ended.then((how) => waiting.fail(`${script} ended (${how.join(', ')}).`));
  const send = (request: PeerRequest): void => void child.send(request);
  const serverPid = await readParent(ready.backendPid, 'postgres');
  return {
    postgres: ready.postgres,
    wave: (wave, key) => waiting.forReply((nth) => send({ type: 'wave', nth, key, wave })),
    async readCpu() {
      const ofEngine = child.pid === undefined ? null : await readCpuMs(child.pid);
      const ofServer = serverPid === null ? null : await readFamilyCpuMs(serverPid);
      if (ofEngine === null || ofServer === null) return null;
      return { engine: ofEngine, PostgreSQL: ofServer };
    },
    async stop() {
      if (child.connected) send({ type: 'close' });
      const force = setTimeout(() => child.kill('SIGKILL'), graceMs);
      await ended;
      clearTimeout(force);
    },
  };
}

interface Waiting {
  /** @param ask sends a request under a number that its reply comes back with. */
  forReply(ask: (nth: number) => void): Promise<void>;
  take(message: PeerMessage): void;
  fail(message: string): void;
}

function createWaiting(): Waiting {
  const pending = new Map<number, { resolve: () => void; reject: (error: Error) => void }>();
  let asked = 0;
  return {
    forReply(ask) {
      asked += 1;
      const nth = asked;
      const replied = new Promise<void>((resolve, reject) => {
        pending.set(nth, { resolve, reject });
      });
      ask(nth);
      return replied;
    },
    take(message) {
      if (message.type === 'ready') return;
      const one = pending.get(message.nth);
      pending.delete(message.nth);
      if (message.type === 'done') one?.resolve();
      else one?.reject(new Error(message.message));
    },
    fail(message) {
      for (const { reject } of pending.values()) reject(new Error(message));
      pending.clear();
    },
  };
}

function isPeerMessage(value: unknown): value is PeerMessage {
  return typeof value === 'object' && value !== null && 'type' in value;
}
