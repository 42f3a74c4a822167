import { request as requestPlain, type ClientRequest, type IncomingMessage } from 'node:http';
import { request as requestTls } from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createUnzip } from 'node:zlib';

/** Longest time until a connection stands, in milliseconds, as in Node's own `fetch`. */
const connectMaxMs = 10_000;

/** Code of the error of a connection that did not stand in time. */
export const notConnectedCode = 'NOT_CONNECTED';

/**
 * Sends a request with a text body, as `fetch` does, but on `node:http`: the bodies of Node's own `fetch` pass through
 * web streams, which cost more processor time than the rest of a call.
 *
 * HF1. An abort of the signal closes the socket, before and after the headers, and so does a reader that stops early.
 * HF2. A redirect is not followed: it would carry the API key elsewhere.
 * HF3. Node's global agents keep connections alive, so its settings for certificates and proxies hold.
 * HF4. Silence ends no request.
 * HF5. No compression is asked for; a body that is compressed nevertheless is decompressed.
 */
export async function fetchOverHttp(
  url: string | URL | Request,
  init: RequestInit = {},
): Promise<Response> {
  const target = new URL(url instanceof Request ? url.url : url);
  const incoming = await send(target, init);
  const { statusCode: status = 0, headersDistinct } = incoming;
  const headers = new Headers(
    Object.entries(headersDistinct).flatMap(([name, values = []]) =>
      values.map((value): [string, string] => [name, value]),
    ),
  );
  return replyOf({ url: target.href, status, headers }, decompress(incoming));
}

/** The parts of a response that the SDK reads. */
type ReplyHead = Pick<Response, 'url' | 'status' | 'headers'>;

/** Returns a response whose body is read chunk by chunk, without a web stream. It has what the SDK reads, no more. */
export function replyOf(
  { url, status, headers }: ReplyHead,
  body: AsyncIterable<Uint8Array>,
): Response {
  const text = async (): Promise<string> => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return new TextDecoder().decode(Buffer.concat(chunks));
  };
  const ok = status >= 200 && status < 300;
  // The SDK iterates over the body, or asks for its text; `http-fetch.test.ts` and the tests of the client hold that.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { url, status, headers, ok, body, bodyUsed: false, text } as unknown as Response;
}

function send(target: URL, init: RequestInit): Promise<IncomingMessage> {
  const { method = 'GET', headers, body, signal } = init;
  return new Promise((resolve, reject) => {
    const isTls = target.protocol === 'https:';
    const request = (isTls ? requestTls : requestPlain)(target, {
      method,
      // The agent's own limit is meant for connections that wait; a silent reply is the caller's to judge.
      timeout: 0,
      headers: { ...Object.fromEntries(new Headers(headers)), 'accept-encoding': 'identity' },
    });
    const abort = (): void => {
      request.destroy(new DOMException('The call was aborted.', 'AbortError'));
    };
    signal?.addEventListener('abort', abort, { once: true });
    request.once('close', () => signal?.removeEventListener('abort', abort));
    request.once('response', resolve);
    request.on('error', (error) => {
      // An abort keeps its name, by which the SDK knows it. Others are wrapped: the SDK copies foreign errors without their code.
      reject(error.name === 'AbortError' ? error : new Error('No reply came.', { cause: error }));
    });
    limitConnecting(request, isTls ? 'secureConnect' : 'connect');
    request.end(body);
    if (signal?.aborted === true) abort();
  });
}

function limitConnecting(request: ClientRequest, connected: 'connect' | 'secureConnect'): void {
  request.once('socket', (socket) => {
    if (!socket.connecting) return;
    const timer = setTimeout(() => {
      const message = `There was no connection after ${connectMaxMs / 1_000} s.`;
      request.destroy(Object.assign(new Error(message), { code: notConnectedCode }));
    }, connectMaxMs);
    const stop = (): void => clearTimeout(timer);
    socket.once(connected, stop);
    request.once('close', stop);
  });
}

function decompress(incoming: IncomingMessage): Readable {
  const encoding = incoming.headers['content-encoding']?.toLowerCase();
  const isZipped = encoding === 'gzip' || encoding === 'x-gzip' || encoding === 'deflate';
  if (!isZipped && encoding !== 'br') return incoming;
  // Its errors reach the reader, and a reader that stops early destroys both ends.
  return pipeline(incoming, isZipped ? createUnzip() : createBrotliDecompress(), () => undefined);
}
