import { once } from 'node:events';
import { createServer, globalAgent } from 'node:http';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { createAnthropicClient } from '../../../activities/adapters/anthropic/anthropic-client.ts';
import { fetchOverHttp } from '../../../activities/adapters/anthropic/http-fetch.ts';
import { apiKey, asFailure, callOptions, request } from './model-bench.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}`;
}

describe('fetchOverHttp', () => {
  it('sends method, headers and body, and returns status, headers and text', async () => {
    const received: unknown[] = [];
    const url = await serve((incoming, response) => {
      let body = '';
      incoming.setEncoding('utf8').on('data', (text: string) => (body += text));
      incoming.on('end', () => {
        received.push(incoming.method, incoming.url, incoming.headers['x-name'], body);
        response.writeHead(418, { 'request-id': 'req_1', 'set-cookie': ['a', 'b'] }).end('größer');
      });
    });
    const init = { method: 'POST', headers: { 'x-name': 'value' }, body: '{"text":"größer"}' };
    const response = await fetchOverHttp(`${url}/v1/messages?beta=1`, init);
    expect(received).toEqual(['POST', '/v1/messages?beta=1', 'value', '{"text":"größer"}']);
    expect(response).toMatchObject({ status: 418, ok: false });
    expect(response.headers.get('request-id')).toBe('req_1');
    expect(response.headers.get('set-cookie')).toBe('a, b');
    expect(await response.text()).toBe('größer');
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ])('HF5: decompresses %s, which it does not ask for', async (encoding, compress) => {
    let asked: string | undefined;
    const url = await serve((incoming, response) => {
      asked = incoming.headers['accept-encoding'];
      response.writeHead(200, { 'content-encoding': encoding }).end(compress('the text'));
    });
    expect(await (await fetchOverHttp(url)).text()).toBe('the text');
    expect(asked).toBe('identity');
  });

  it('HF5: a compressed body that breaks off rejects its reader', async () => {
    const url = await serve((_incoming, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(gzipSync('the text').subarray(0, 12));
    });
    await expect((await fetchOverHttp(url)).text()).rejects.toThrow('unexpected end of file');
  });

  it('HF3: a second request uses the connection of the first', async () => {
    const ports = new Set<number | undefined>();
    const url = await serve((incoming, response) => {
      ports.add(incoming.socket.remotePort);
      response.end('well');
    });
    await (await fetchOverHttp(url)).text();
    await (await fetchOverHttp(url)).text();
    expect(ports.size).toBe(1);
  });

  it('HF4: a connection has a limit of silence only while it waits for a request', async () => {
    const arrived: ServerResponse[] = [];
    const url = await serve((_incoming, response) => arrived.push(response));
    const name = globalAgent.getName({ host: '127.0.0.1', port: Number(new URL(url).port) });
    const call = fetchOverHttp(url);
    while (arrived.length === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(globalAgent.sockets[name]?.map(({ timeout }) => timeout)).toEqual([0]);
    arrived[0]?.end('well');
    expect(await (await call).text()).toBe('well');
    while (globalAgent.sockets[name] !== undefined) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(globalAgent.freeSockets[name]?.every(({ timeout }) => Number(timeout) > 0)).toBe(true);
  });

  it('HF1: an abort before the headers and during the body closes the socket', async () => {
    const closed: Promise<unknown>[] = [];
    const arrived: IncomingMessage[] = [];
    const url = await serve((incoming, response) => {
      arrived.push(incoming);
      closed.push(once(incoming.socket, 'close'));
      if (incoming.url === '/body') response.writeHead(200).write('half');
    });
    const before = new AbortController();
    const call = fetchOverHttp(url, { signal: before.signal });
    while (arrived.length === 0) await new Promise((resolve) => setImmediate(resolve));
    before.abort();
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });

    const during = new AbortController();
    const response = await fetchOverHttp(`${url}/body`, { signal: during.signal });
    during.abort();
    await expect(response.text()).rejects.toThrow('aborted');
    await Promise.all(closed);
    expect(closed).toHaveLength(2);
  });

  it('HF1: a signal that is aborted already sends nothing', async () => {
    let requests = 0;
    const url = await serve(() => (requests += 1));
    const call = fetchOverHttp(url, { signal: AbortSignal.abort() });
    await expect(call).rejects.toMatchObject({ name: 'AbortError' });
    expect(requests).toBe(0);
  });

  it('HF2: a redirect stops the run with the cure, and the other address never sees the key', async () => {
    let followed = 0;
    const other = await serve((_incoming, response) => {
      followed += 1;
      response.end();
    });
    const url = await serve((_incoming, response) => {
      response.writeHead(308, { location: `${other}/v1/messages` }).end();
    });
    const client = createAnthropicClient({ apiKey, baseUrl: url });
    const failure = asFailure(await client.complete(request, callOptions()).catch(asFailure));
    expect(failure).toMatchObject({ type: 'ModelGone', retryable: false });
    expect(failure.message).toContain('ANTHROPIC_BASE_URL');
    expect(followed).toBe(0);
  });
});
