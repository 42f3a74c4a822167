import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createId } from '../replies/message.ts';
import {
  answerCountTokens,
  answerMessages,
  answerScripting,
  findModel,
  listModels,
  sendApiError,
  sendJson,
} from './routes.ts';
import type { CallCounts, RecordedCall, ScriptRule } from '../script.ts';
import { createState, type RehearsalState } from './state.ts';

export interface RehearsalOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** Default `127.0.0.1`. */
  readonly host?: string;
  /** Milliseconds a reply takes. Default 150. */
  readonly thinkMs?: number;
  /** Opens the `/_rehearsal` paths. Default false. The methods below work in any case. */
  readonly scriptable?: boolean;
  /** Keeps the recorded calls with their bodies. Default true; false only counts them. */
  readonly keepsCalls?: boolean;
}

export interface RehearsalServer {
  /** Value for `ANTHROPIC_BASE_URL`, without a final slash. */
  readonly url: string;
  readonly port: number;
  /** Replaces all earlier rules by these. */
  script(rules: readonly ScriptRule[]): void;
  calls(): readonly RecordedCall[];
  counts(): CallCounts;
  /**
   * Resolves with all calls when at least `count` have arrived or, with `ended`, have ended.
   * Rejects with an AbortError when `signal` is aborted first.
   *
   * @param state default `arrived`.
   */
  waitForCalls(
    count: number,
    state?: 'arrived' | 'ended',
    signal?: AbortSignal,
  ): Promise<readonly RecordedCall[]>;
  /** Resets the server to its start: no script, no calls, an empty prompt cache, ids from 1. */
  reset(): void;
  /** Cuts calls in flight and frees the port. */
  close(): Promise<void>;
}

/** The port is taken by another process. */
export class PortInUse extends Error {
  override readonly name = 'PortInUse';
  readonly port: number;

  constructor(port: number, cause: unknown) {
    super(`Port ${port} is in use.`, { cause });
    this.port = port;
  }
}

const thinkMsDefault = 150;

/** Long enough that a client never reuses a connection while the server closes it. */
const keepAliveMs = 60_000;

/** Name of the server, by which a program on a port is recognised. */
export const serverName = 'planwave-rehearsal';

function hasKey(incoming: IncomingMessage): boolean {
  return Boolean(incoming.headers['x-api-key'] ?? incoming.headers.authorization);
}

async function answerApi(
  state: RehearsalState,
  path: string,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const refuse = (status: number, message: string): void =>
    sendApiError(response, status, message, createId('req', state.nextRequestNumber()));
  if (!hasKey(incoming)) return refuse(401, 'x-api-key header is required');
  const route = `${incoming.method} ${path}`;
  if (route === 'POST /v1/messages') return answerMessages(state, incoming, response);
  if (route === 'POST /v1/messages/count_tokens')
    return answerCountTokens(state, incoming, response);
  if (!route.startsWith('GET /v1/models')) return refuse(404, 'Not Found');
  const id = path.slice('/v1/models/'.length);
  const body = id === '' ? listModels() : findModel(decodeURIComponent(id));
  if (body === undefined) return refuse(404, `model: ${id}`);
  return sendJson(response, body, createId('req', state.nextRequestNumber()));
}

async function answer(
  state: RehearsalState,
  isScriptable: boolean,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  response.setHeader('server', serverName);
  const url = new URL(incoming.url ?? '/', 'http://rehearsal');
  if (isScriptable && (await answerScripting(state, url, incoming, response))) return;
  if (url.pathname.startsWith('/v1/')) return answerApi(state, url.pathname, incoming, response);
  if (url.pathname === '/') {
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' });
    response.end('The rehearsal model of planwave. It answers the Messages API under /v1.\n');
    return;
  }
  return sendApiError(response, 404, 'Not Found', createId('req', state.nextRequestNumber()));
}

/** Resolves with the port. */
function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? new PortInUse(port, error) : error),
    );
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

/**
 * Starts the rehearsal model: a server that speaks the Messages API, answers by rule and costs nothing.
 *
 * @throws {PortInUse} when another process holds the port.
 */
export async function startRehearsalServer(options: RehearsalOptions): Promise<RehearsalServer> {
  const { host = '127.0.0.1', thinkMs = thinkMsDefault, keepsCalls = true } = options;
  const state = createState({ thinkMs, keepsCalls });
  const server = createServer((incoming, response) => {
    // Only a broken body can reject here: the client has disconnected.
    answer(state, options.scriptable ?? false, incoming, response).catch(() => response.destroy());
  });
  server.keepAliveTimeout = keepAliveMs;
  const port = await listen(server, options.port, host);
  const shownHost = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return {
    url: `http://${shownHost.includes(':') ? `[${shownHost}]` : shownHost}:${port}`,
    port,
    script: (rules) => state.book.write(rules),
    calls: () => state.log.calls(),
    counts: () => state.log.counts(),
    waitForCalls: async (count, until = 'arrived', signal) => {
      await state.log.waitFor(count, until, signal);
      return state.log.calls();
    },
    reset: () => state.reset(),
    close: () =>
      new Promise((resolve) => {
        state.log.cutAll();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
