import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { Payload } from '@temporalio/common';
import { createEncryptingCodec, explainFault } from '../encryption/encrypting-codec.ts';
import type { KeyRing } from '../encryption/key-ring.ts';
import { type ServedUrl, isSameText, listen, readBody } from './listen.ts';

export interface CodecServerOptions {
  readonly keys: KeyRing;
  /** IP address to listen on. Any but loopback needs a token. */
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Origins of Web UIs, such as `http://localhost:8233`. Pages of other origins are refused. */
  readonly origins: readonly string[];
  /** Secret that a caller must send. If undefined, everyone on this machine may ask. */
  readonly token?: string | undefined;
}

/** Most bytes of a request: a page of a history has 4 MB, half as much again in Base64, and lists hold several. */
const requestBytesMax = 32_000_000;

/** Returns true for addresses that only this machine reaches. */
export function isLoopback(host: string): boolean {
  return host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/**
 * Serves `/encode` and `/decode`, as the Temporal Web UI and CLI ask for them: they decrypt with the keys of this server for
 * whoever may ask.
 *
 * CV1. Without a token it listens on loopback only, and answers only requests that name it by a loopback name: a page that
 *      has its own name point to loopback gets nothing.
 * CV2. Pages get answers only from the named origins.
 * CV3. With a token, a request without it gets nothing.
 * CV4. A payload that can't be decrypted becomes the words that say why; the others of the request are decrypted.
 *
 * @throws what `listen` reports, such as a port in use, and an Error for an address that needs a token.
 */
export async function serveCodec(options: CodecServerOptions): Promise<ServedUrl> {
  const { host, port, token } = options;
  if (token === undefined && !isLoopback(host)) {
    throw new Error(`${host} can be reached from other machines, which needs a token`);
  }
  const server = await listen({ host, port }, (request, response) => {
    answer(request, response, options).catch(() => response.destroy());
  });
  const url = `http://${isIP(host) === 6 ? `[${host}]` : host}:${server.port}`;
  return { url, close: () => server.close() };
}

/** Status and text of an answer. */
type Told = readonly [status: number, text: string];

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: CodecServerOptions,
): Promise<void> {
  const { origin } = request.headers;
  const isKnown = origin !== undefined && options.origins.includes(origin);
  const [status, text] = refuse(request, isKnown, options) ?? (await work(request, options.keys));
  response
    .writeHead(status, {
      vary: 'Origin',
      'content-type': status === 200 ? 'application/json' : 'text/plain',
      ...(isKnown && {
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'Content-Type, X-Namespace, Authorization',
      }),
    })
    .end(text);
}

/** Answers what may not come in, and a browser that asks what may; null for what comes in. */
function refuse(
  request: IncomingMessage,
  isKnown: boolean,
  { token }: CodecServerOptions,
): Told | null {
  const { origin } = request.headers;
  if (origin !== undefined && !isKnown) return [403, `Not for pages of ${origin}: see --ui.\n`];
  if (token === undefined && !hasLoopbackName(request)) return [403, 'Ask for it as localhost.\n'];
  // Sent without the token.
  if (request.method === 'OPTIONS') return [204, ''];
  const given = request.headers.authorization ?? '';
  return token === undefined || isSameText(given, `Bearer ${token}`)
    ? null
    : [401, 'Expected the header "Authorization: Bearer <token>".\n'];
}

async function work(request: IncomingMessage, keys: KeyRing): Promise<Told> {
  // By path, because the Web UI adds a query.
  const { pathname } = new URL(request.url ?? '/', 'http://x');
  const [, verb] = /\/(encode|decode)$/.exec(pathname) ?? [];
  if (verb === undefined || request.method !== 'POST') {
    return [404, 'Expected POST /encode or POST /decode.\n'];
  }
  const namespace = request.headers['x-namespace'];
  if (typeof namespace !== 'string') return [400, 'Expected the header "X-Namespace".\n'];
  const payloads = readPayloads(await readBody(request, requestBytesMax));
  if (payloads === null) return [400, 'Expected {"payloads": [{"metadata", "data"}]}.\n'];
  const codec = createEncryptingCodec(keys, namespace, explainFault);
  const done = verb === 'encode' ? await codec.encode(payloads) : await codec.decode(payloads);
  return [200, JSON.stringify({ payloads: done.map(writePayload) })];
}

function hasLoopbackName({ headers }: IncomingMessage): boolean {
  const name = (headers.host ?? '').replace(/:\d{1,5}$/, '').replace(/^\[(.*)\]$/, '$1');
  return name === 'localhost' || isLoopback(name);
}

/** Reads payloads as protobuf's JSON has them; null when there are none. */
function readPayloads(body: Buffer | null): Payload[] | null {
  try {
    const read: { payloads: { metadata?: Record<string, string>; data?: string }[] } = JSON.parse(
      body?.toString('utf8') ?? '',
    );
    return read.payloads.map(({ metadata = {}, data = '' }) => ({
      metadata: Object.fromEntries(
        Object.entries(metadata).map(([name, value]) => [name, Buffer.from(value, 'base64')]),
      ),
      data: Buffer.from(data, 'base64'),
    }));
  } catch {
    return null;
  }
}

function writePayload({ metadata, data }: Payload): object {
  return {
    metadata: Object.fromEntries(
      Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)]),
    ),
    data: base64(data ?? new Uint8Array()),
  };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}
