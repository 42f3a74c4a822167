import { request } from 'node:http';
import { serveCodec } from '../../../client/codec-server.ts';
import type { ServedUrl } from '../../../client/listen.ts';
import type { CodecServerOptions } from '../../../client/codec-server.ts';
import { testKeys } from '../../support/test-keys.ts';

const ui = 'http://localhost:8233';
const token = 'a-token-of-the-test';
const servers: ServedUrl[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function serve(over: Partial<CodecServerOptions> = {}): Promise<ServedUrl> {
  const keys = testKeys('k2', 'k1');
  const server = await serveCodec({ keys, host: '127.0.0.1', port: 0, origins: [ui], ...over });
  servers.push(server);
  return server;
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** Asks with any headers, also those that `fetch` does not let one set. */
function ask(
  { url }: ServedUrl,
  path: string,
  { method = 'POST', body = '', ...headers }: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(url + path, { method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers }),
      );
    });
    asked.on('error', reject).end(body);
  });
}

const namespace = { 'x-namespace': 'default' };
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const plain = JSON.stringify({
  payloads: [{ metadata: { encoding: base64('json/plain') }, data: base64('"the tower"') }],
});

it('encodes and decodes by path, whatever the query', async () => {
  const server = await serve();
  const encoded = await ask(server, '/encode', { ...namespace, body: plain });
  expect(encoded.status).toBe(200);
  expect(JSON.parse(encoded.body)).toMatchObject({
    payloads: [
      { metadata: { encoding: base64('binary/encrypted'), 'encryption-key-id': base64('k2') } },
    ],
  });
  const path = '/default/decode?preserveStorageRefs=true';
  const decoded = await ask(server, path, { ...namespace, body: encoded.body });
  expect(JSON.parse(decoded.body)).toEqual(JSON.parse(plain));
  expect(await ask(server, '/other', { ...namespace, body: plain })).toMatchObject({ status: 404 });
  expect(await ask(server, '/decode', { ...namespace, method: 'GET' })).toMatchObject({
    status: 404,
  });
  expect(await ask(server, '/decode', { body: plain })).toMatchObject({ status: 400 });
  expect(await ask(server, '/decode', { ...namespace, body: '{' })).toMatchObject({ status: 400 });
});

it('CV1: without a token it is for this machine alone, by a name of this machine', async () => {
  await expect(serve({ host: '0.0.0.0' })).rejects.toThrow('needs a token');
  const server = await serve();
  const asked = await ask(server, '/encode', { ...namespace, host: 'evil.example', body: plain });
  expect(asked).toMatchObject({ status: 403, body: 'Ask for it as localhost.\n' });
  const host = `localhost:${new URL(server.url).port}`;
  expect(await ask(server, '/encode', { ...namespace, host, body: plain })).toMatchObject({
    status: 200,
  });
});

it('CV2: pages of the Web UI get answers, and others none', async () => {
  const server = await serve();
  const known = await ask(server, '/encode', { ...namespace, origin: ui, body: plain });
  expect(known).toMatchObject({ status: 200, headers: { 'access-control-allow-origin': ui } });
  const before = await ask(server, '/decode', { method: 'OPTIONS', origin: ui });
  expect(before).toMatchObject({
    status: 204,
    headers: { 'access-control-allow-headers': 'Content-Type, X-Namespace, Authorization' },
  });
  for (const method of ['POST', 'OPTIONS']) {
    const origin = 'https://evil.example';
    const refused = await ask(server, '/encode', { ...namespace, method, origin, body: plain });
    expect(refused.status).toBe(403);
    expect(refused.headers).not.toHaveProperty('access-control-allow-origin');
  }
});

it('CV3: with a token, a request without it gets nothing', async () => {
  const server = await serve({ token, host: '0.0.0.0' });
  const there = { ...server, url: server.url.replace('0.0.0.0', '127.0.0.1') };
  for (const authorization of ['', 'Bearer wrong-token-of-it', token]) {
    const asked = await ask(there, '/encode', { ...namespace, authorization, body: plain });
    expect(asked.status).toBe(401);
  }
  const authorization = `Bearer ${token}`;
  expect(await ask(there, '/encode', { ...namespace, authorization, body: plain })).toMatchObject({
    status: 200,
  });
  expect(await ask(there, '/encode', { method: 'OPTIONS', origin: ui })).toMatchObject({
    status: 204,
  });
});

it('CV4: a payload that can not be decrypted becomes the words why, beside the others', async () => {
  const [old, own] = [await serve({ keys: testKeys('k0') }), await serve()];
  const payloadOf = async (server: ServedUrl): Promise<unknown> => {
    const { body } = await ask(server, '/encode', { ...namespace, body: plain });
    const { payloads }: { readonly payloads: readonly unknown[] } = JSON.parse(body);
    return payloads[0];
  };
  const body = JSON.stringify({ payloads: [await payloadOf(old), await payloadOf(own)] });
  const decoded = await ask(own, '/decode', { ...namespace, body });
  const { payloads }: { readonly payloads: readonly { readonly data: string }[] } = JSON.parse(
    decoded.body,
  );
  const texts = payloads.map(({ data }) => Buffer.from(data, 'base64').toString());
  expect(texts[0]).toContain('(encrypted) It is encrypted with the key');
  expect(texts[1]).toBe('"the tower"');
});
