import { createServer, connect } from 'node:net';
import type { Server, Socket } from 'node:net';
import type { CliDeps } from '../../client/cli/cli-deps.ts';
import { runCli } from '../../client/cli/commands/program.ts';
import {
  noAgents,
  noBudgets,
  noChanges,
  noPages,
  noThreads,
} from '../unit/client/support/fake-client.ts';
import { createFakeIo } from '../unit/client/support/fake-io.ts';
import type { FakeIo } from '../unit/client/support/fake-io.ts';

export interface CliOutcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly tookMs: number;
}

/** Runs one command line against a server, as a user's shell would. */
export async function runAt(
  address: string,
  argv: readonly string[],
  options: { readonly io?: FakeIo; readonly deps?: Partial<CliDeps> } = {},
): Promise<CliOutcome> {
  const io = options.io ?? createFakeIo();
  const deps: CliDeps = {
    io,
    env: { TEMPORAL_ADDRESS: address },
    cwd: process.cwd(),
    exportRun: (runId) => Promise.resolve({ path: runId }),
    readResult: () => Promise.resolve(null),
    offerFork: () => Promise.reject(new Error('not available')),
    readComparedRun: () => Promise.reject(new Error('not available')),
    prune: () => Promise.resolve({ runs: [], records: 0, bytes: 0, kept_by: null }),
    copyStore: () => Promise.reject(new Error('not available')),
    checkHome: () => Promise.resolve({ runs: 0, records: 0, bytes: 0, faults: [], repaired: [] }),
    pages: noPages,
    threads: noThreads,
    budgets: noBudgets,
    changes: noChanges,
    agents: noAgents,
    readPlan: () => Promise.resolve(null),
    doctorChecks: [],
    replayHistories: async function* () {},
    runTemporalCli: () => Promise.resolve(0),
    ...options.deps,
  };
  const startedAt = performance.now();
  const code = await runCli(argv, deps);
  return { code, out: io.out(), err: io.err(), tookMs: performance.now() - startedAt };
}

export interface Listener {
  readonly address: string;
  close(): Promise<void>;
}

/**
 * A port on which nobody listens. A free one of the system's own choice would be somebody's soon: other tests start
 * servers meanwhile, with a dozen ports each, and some of those speak gRPC. This one is never handed out.
 */
export const closedAddress = '127.0.0.1:1';

/** Accepts connections and says nothing, or only what is no gRPC. */
export async function deafListener(greeting?: string): Promise<Listener> {
  const sockets = new Set<Socket>();
  const { server, address } = await listen((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    if (greeting !== undefined) socket.end(greeting);
  });
  return {
    address,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return closeServer(server);
    },
  };
}

export interface Wire extends Listener {
  /** From now on nothing gets through, and nobody is told. */
  cut(): void;
}

/** Passes everything on to `target`, until it is cut. */
export async function wireTo(target: string): Promise<Wire> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const [host = '', port = ''] = target.split(':');
  const { server, address } = await listen((socket) => {
    const upstream = connect({ host, port: Number(port) });
    for (const [from, to] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      sockets.add(from);
      from.on('error', () => {});
      from.on('data', (data) => {
        if (!isCut) to.write(data);
      });
      from.on('close', () => to.destroy());
    }
  });
  return {
    address,
    cut: () => {
      isCut = true;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      return closeServer(server);
    },
  };
}

async function listen(
  onConnection: (socket: Socket) => void,
): Promise<{ readonly server: Server; readonly address: string }> {
  const server = createServer(onConnection);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('the listener has no port');
  return { server, address: `127.0.0.1:${bound.port}` };
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
