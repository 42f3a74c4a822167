import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  originValidationResponse,
} from '@modelcontextprotocol/server';
import type { McpServer } from '@modelcontextprotocol/server';
import { isSameText, listenOnLoopback, readBody } from '../loopback.ts';

export interface HttpOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** Each request has to carry it. */
  readonly token: string;
}

export interface HttpFace {
  readonly url: string;
  close(): Promise<void>;
}

/** Maximum bytes of a request. A goal is at most 100,000 characters. */
const requestBytesMax = 1_000_000;

/**
 * Serves MCP over HTTP on loopback. A page in a browser reaches loopback too, so host and origin of each request are checked, and each
 * carries the token.
 *
 * @throws what `listen` reports, such as a port in use.
 */
export async function serveHttp(
  create: () => McpServer,
  { port, token }: HttpOptions,
): Promise<HttpFace> {
  const handler = createMcpHandler(create);
  const server = await listenOnLoopback(port, (incoming, outgoing) => {
    answer(
      incoming,
      outgoing,
      async (request) => refuse(request, token) ?? handler.fetch(request),
    ).catch(() => outgoing.destroy());
  });
  return {
    url: `http://127.0.0.1:${server.port}/mcp`,
    async close() {
      await handler.close();
      await server.close();
    },
  };
}

/** @returns the response to a request that may not come in, or undefined. */
function refuse(request: Request, token: string): Response | undefined {
  return (
    hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
    originValidationResponse(request, localhostAllowedOrigins()) ??
    (isSameText(request.headers.get('authorization') ?? '', `Bearer ${token}`)
      ? undefined
      : new Response('Expected the header "Authorization: Bearer <token>".\n', {
          status: 401,
          headers: { 'www-authenticate': 'Bearer' },
        }))
  );
}

async function answer(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  fetch: (request: Request) => Promise<Response>,
): Promise<void> {
  const gone = new AbortController();
  outgoing.on('close', () => gone.abort());
  const body = await readBody(incoming, requestBytesMax);
  if (body === null) {
    outgoing.writeHead(413).end();
    return;
  }
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  const { method = 'GET', url = '/' } = incoming;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const request = new Request(new URL(url, 'http://127.0.0.1'), {
    method,
    headers,
    signal: gone.signal,
    ...(hasBody && { body }),
  });
  const response = await fetch(request);
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) outgoing.end();
  else await pipeline(Readable.from(response.body), outgoing);
}
