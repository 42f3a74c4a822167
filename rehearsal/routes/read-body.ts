import type { IncomingMessage } from 'node:http';

/** Largest request of the API: 32 MB. */
const bodyBytesMax = 32 * 1024 * 1024;

/** Reads the body as text; undefined when it is larger than `bodyBytesMax`. Rejects when the client disconnects. */
export async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    // The rest is still read, so that the client gets the answer instead of a broken connection.
    if (bytes <= bodyBytesMax) chunks.push(chunk);
  }
  return bytes > bodyBytesMax ? undefined : Buffer.concat(chunks).toString('utf8');
}
