import { createServer } from 'node:http';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import type { NotificationBody } from '../../core/run/notify.ts';

/** A message as a receiver takes it: verified. */
export interface Heard extends NotificationBody {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The body as it came. */
  readonly text: string;
}

/** A real receiver of webhooks, which verifies each message as the Standard Webhooks specification says. */
export interface HookServer {
  readonly url: string;
  readonly key: Buffer;
  /** All that came, also what was refused. */
  readonly heard: Heard[];
  /** Statuses of the next answers; after them 204. */
  readonly answers: number[];
  close(): Promise<void>;
}

export async function openHookServer(): Promise<HookServer> {
  const key = Buffer.from('a key of the receiver, 32 bytes.');
  const heard: Heard[] = [];
  const answers: number[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const { headers } = request;
      const isSigned = verify(key, headers, text);
      if (isSigned) heard.push({ ...JSON.parse(text), headers, text });
      response.writeHead(isSigned ? (answers.shift() ?? 204) : 401).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const place = server.address();
  if (place === null || typeof place === 'string') throw new Error('The receiver has no port.');
  return {
    url: `http://127.0.0.1:${place.port}/hook?token=planted`,
    key,
    heard,
    answers,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function verify(key: Buffer, headers: Heard['headers'], text: string): boolean {
  const id = String(headers['webhook-id']);
  const at = String(headers['webhook-timestamp']);
  if (Math.abs(Date.now() / 1_000 - Number(at)) > 300) return false;
  const wanted = createHmac('sha256', key).update(`${id}.${at}.${text}`).digest();
  const [version, given = ''] = String(headers['webhook-signature']).split(',');
  const signature = Buffer.from(given, 'base64');
  return (
    version === 'v1' && signature.length === wanted.length && timingSafeEqual(signature, wanted)
  );
}
