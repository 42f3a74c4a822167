import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, RequestListener, Server } from 'node:http';
import { createServer } from 'node:http';

/** A server that only programs of this machine reach. */
export interface LoopbackServer {
  readonly port: number;
  /** Ends open connections too. */
  close(): Promise<void>;
}

/**
 * Listens on 127.0.0.1.
 *
 * @param port 0 takes any free one.
 * @throws what `listen` reports, such as a port in use.
 */
export async function listenOnLoopback(
  port: number,
  handle: RequestListener,
): Promise<LoopbackServer> {
  const server = createServer(handle);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return {
    port: portOf(server),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
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
