import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { isRecord } from '../core/json.ts';
import { codeOf, PlanwaveClientError } from './client-error.ts';

/** A server that programs of this machine reach at a URL. */
export interface ServedUrl {
  readonly url: string;
  close(): Promise<void>;
}

export interface HttpServer {
  readonly port: number;
  /** Ends open connections too. */
  close(): Promise<void>;
}

/**
 * Listens on an address.
 *
 * @param place `host` is an IP address. Default 127.0.0.1, which only programs of this machine reach; port 0 takes any free one.
 * @throws {PlanwaveClientError} when the address can't be had, such as a port in use.
 */
export async function listen(
  { host = '127.0.0.1', port }: { readonly host?: string; readonly port: number },
  handle: RequestListener,
): Promise<HttpServer> {
  const server = createServer(handle);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  }).catch((error: unknown) => {
    const why =
      codeOf(error) === 'EADDRINUSE'
        ? 'another program uses it'
        : String(isRecord(error) ? error['message'] : error);
    throw new PlanwaveClientError(
      'bad_input',
      `${host}:${port} can't be listened on: ${why}. Try: another port`,
      { cause: error },
    );
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Compares in a time that does not depend on where the texts differ. */
export function isSameText(given: string, expected: string): boolean {
  return timingSafeEqual(hash(given), hash(expected));
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** @returns null when it has more bytes than `bytesMax`. */
export async function readBody(
  incoming: IncomingMessage,
  bytesMax: number,
): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
