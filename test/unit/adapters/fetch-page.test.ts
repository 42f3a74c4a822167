import { createServer } from 'node:http';
import type { RequestListener, Server } from 'node:http';
import { gzipSync } from 'node:zlib';
import {
  convertPage,
  createPageFetcher,
  type PageFetcherOptions,
  isPublicAddress,
} from '../../../activities/adapters/web/fetch-page.ts';
import { decodePage } from '../../../activities/adapters/web/decode-page.ts';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

const local: PageFetcherOptions = {
  hosts: ['docs.example', '*.docs.example'],
  resolve: async () => ['127.0.0.1'],
  mayConnect: () => true,
};

const never = new AbortController().signal;
const get = (url: string, over: Partial<PageFetcherOptions> = {}) =>
  createPageFetcher({ ...local, ...over }).fetch(url, never);

const latin = (text: string) => Buffer.from(text, 'latin1');

const oneIsPrivate = async () => ['93.184.215.14', '10.0.0.1'];
const isLoopback = (address: string) => address === '127.0.0.1';

describe('isPublicAddress', () => {
  it.each([
    '127.0.0.1',
    '127.8.8.8',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '168.63.129.16',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd00:ec2::254',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:8.8.8.8',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    '2002:7f00:1::',
    '2001::1',
    '2001:db8::1',
    '3fff::1',
    'no-address',
    '',
  ])('WPF2: refuses %s', (address) => expect(isPublicAddress(address)).toBe(false));

  it.each(['93.184.215.14', '1.1.1.1', '172.32.0.1', '2606:2800:21f::1', '2a00:1450:4001::1'])(
    'takes %s',
    (address) => expect(isPublicAddress(address)).toBe(true),
  );
});

describe('WPF1: what is not opened', () => {
  it.each([
    ['http://127.0.0.1/', 'none of the allowed hosts'],
    ['http://2130706433/', 'none of the allowed hosts'],
    ['http://0x7f.1/', 'none of the allowed hosts'],
    ['http://[::ffff:127.0.0.1]/', 'none of the allowed hosts'],
    ['http://169.254.169.254/latest/meta-data', 'none of the allowed hosts'],
    ['http://other.example/', 'none of the allowed hosts'],
    ['http://docs.example.evil.example/', 'none of the allowed hosts'],
    ['http://evildocs.example/', 'none of the allowed hosts'],
    ['http://user:pass@docs.example/', 'user name or password'],
    ['file:///etc/passwd', 'Only http and https'],
  ])('%s', async (url, reason) => {
    await expect(get(url)).rejects.toThrow(reason);
  });

  it('a literal address, even if the setting names it', async () => {
    await expect(get('http://127.0.0.1/', { hosts: ['127.0.0.1'] })).rejects.toThrow(
      'allowed hosts',
    );
  });

  it('WPF2: a name of which one address is private', async () => {
    const { mayConnect: _any, ...strict } = local;
    await expect(
      createPageFetcher({ ...strict, resolve: oneIsPrivate }).fetch('http://docs.example/', never),
    ).rejects.toThrow('not on the public internet');
  });

  it('WPF3: a redirect to another host, to a private address, or without end', async () => {
    const port = await serve((request, response) => {
      const to = {
        '/away': 'http://evil.example/',
        '/in': 'http://169.254.169.254/',
        '/round': '/round',
      }[request.url ?? ''];
      response.writeHead(302, { location: to ?? '/' }).end();
    });
    const at = (path: string) => get(`http://docs.example:${port}${path}`);
    await expect(at('/away')).rejects.toThrow('none of the allowed hosts');
    await expect(at('/in')).rejects.toThrow('none of the allowed hosts');
    await expect(at('/round')).rejects.toThrow('redirects more than');
  });
});

it('WPF2: a name is resolved once, and a redirect again: a later answer can not move a connection', async () => {
  const answers = [['127.0.0.1'], ['10.0.0.1']];
  let asked = 0;
  const resolve = async () => answers[asked++] ?? [];
  const port = await serve((request, response) => {
    if (request.url === '/moved') response.writeHead(302, { location: '/' }).end();
    else response.setHeader('content-type', 'text/plain').end('here');
  });
  expect(
    await get(`http://docs.example:${port}/`, { resolve, mayConnect: isLoopback }),
  ).toMatchObject({
    text_md: 'here',
    bytes: 4,
  });
  expect(asked).toBe(1);
  asked = 0;
  await expect(
    get(`http://docs.example:${port}/moved`, { resolve, mayConnect: isLoopback }),
  ).rejects.toThrow('not on the public internet');
  expect(asked).toBe(2);
});

it('WPF4: a page of 60 MB, a slow page and a picture are given up', async () => {
  let sent = 0;
  const port = await serve((request, response) => {
    if (request.url === '/picture') {
      response.setHeader('content-type', 'image/png').end('x');
      return;
    }
    response.setHeader('content-type', 'text/plain');
    if (request.url === '/slow') {
      response.write('a');
      return;
    }
    const chunk = Buffer.alloc(1_000_000, 'a');
    const push = (): void => {
      while (sent < 60 && !response.destroyed) {
        sent += 1;
        if (!response.write(chunk)) {
          response.once('drain', push);
          return;
        }
      }
      response.end();
    };
    push();
  });
  const at = (path: string, over: Partial<PageFetcherOptions> = {}) =>
    get(`http://docs.example:${port}${path}`, over);
  await expect(at('/large')).rejects.toThrow('more than 2000000 bytes');
  expect(sent).toBeLessThan(60);
  await expect(at('/slow', { timeoutMs: 300 })).rejects.toThrow('took longer than 0.3 s');
  await expect(at('/picture')).rejects.toThrow('only texts are read');
});

it('WPF5: no cookie, credential or referrer is sent', async () => {
  const port = await serve((request, response) => {
    response.setHeader('set-cookie', 'a=1');
    if (request.url === '/') response.writeHead(302, { location: '/next' }).end();
    else
      response.setHeader('content-type', 'application/json').end(JSON.stringify(request.headers));
  });
  const sent: unknown = JSON.parse((await get(`http://docs.example:${port}/`)).text_md);
  expect(Object.keys(sent ?? {}).toSorted()).toEqual([
    'accept',
    'accept-encoding',
    'connection',
    'host',
    'user-agent',
  ]);
});

it('WPF5: a page that is compressed all the same is refused', async () => {
  const port = await serve((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' });
    response.end(gzipSync('hello'));
  });
  await expect(get(`http://docs.example:${port}/`)).rejects.toThrow('compressed (gzip)');
});

it.each<[string, string, Buffer, string]>([
  ['its header', 'text/plain; charset=ISO-8859-1', latin('Größe é'), 'Größe é'],
  // 0x80 is the sign of the euro in windows-1252, which stands for Latin-1 on the web.
  ['its header', 'text/plain; charset="latin1"', Buffer.from([0x35, 0x20, 0x80]), '5 €'],
  ['its header', 'text/plain; charset=utf-16le', Buffer.from('hello', 'utf16le'), 'hello'],
  ['its mark', 'text/plain', Buffer.from('\ufeffGröße', 'utf16le'), 'Größe'],
  ['its mark', 'text/plain; charset=latin1', Buffer.from('\ufeffGröße'), 'Größe'],
  ['its tag', 'text/html', latin('<meta charset="windows-1252"><p>Größe</p>'), 'Größe'],
  [
    'its tag',
    'text/html',
    latin('<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1"><p>é</p>'),
    'é',
  ],
  ['nothing', 'text/html', Buffer.from('<p>Größe</p>'), 'Größe'],
])('a page is decoded by %s: %s', async (_by, type, body, text) => {
  const port = await serve((_request, response) => {
    response.setHeader('content-type', type).end(body);
  });
  expect((await get(`http://docs.example:${port}/`)).text_md).toBe(text);
});

it.each([
  ['text/plain; charset=binary', 'Größe'],
  ['text/plain; charset=none', 'Größe'],
  ['text/plain; charset=utf8mb4', 'Größe'],
  ['text/html', '<meta charset="utf_8"><p>Größe</p>'],
])('a page in UTF-8 is read under an unknown name: %s %s', (type, body) => {
  expect(decodePage(Buffer.from(body), type, type === 'text/html')).toBe(body);
});

it('a page in an unknown character set is refused by its name', async () => {
  const port = await serve((_request, response) => {
    response.setHeader('content-type', 'text/plain; charset=klingon').end(latin('Größe'));
  });
  await expect(get(`http://docs.example:${port}/`)).rejects.toThrow('character set "klingon"');
});

it.each([
  '<meta name="description" content="set charset=latin1">',
  '<meta name="description" content="if a > b, charset=latin1 is set">',
  '<meta name="description" content="charset=latin1',
  '<meta http-equiv="refresh" content="0; url=/?charset=latin1">',
  '<!-- <meta charset="latin1"> -->',
  '<!-- <meta charset="latin1">',
  '<metadata charset="latin1">',
])('what only speaks of a character set does not name that of the page: %s', (head) => {
  expect(decodePage(Buffer.from(`${head}<p>Größe</p>`), 'text/html', true)).toContain('Größe');
});

it.each([
  '<!--><meta charset=latin1>',
  '<!-- a > b --><META data-x="a > b" CharSet = latin1 />',
  "<meta content='text/html; charset=latin1' http-equiv=content-type>",
  '<meta name="description" content="charset=utf-8"><meta charset=" latin1 ">',
])('a tag names the character set of its page: %s', (head) => {
  expect(decodePage(latin(`${head}<p>Größe</p>`), 'text/html', true)).toContain('Größe');
});

it('HTML becomes Markdown, without scripts and pictures', async () => {
  const html =
    '<html><head><title>Notes &amp; more</title></head><body><h1>Hi</h1><script>x()</script><p>A <b>b</b> <a href="/c">c</a><img src="https://evil.example/p" alt="pic"></p></body></html>';
  const port = await serve((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8').end(html);
  });
  const page = await get(`http://www.docs.example:${port}/`);
  expect(page.text_md).toBe('# Hi\n\nA **b** [c](/c)pic');
  expect(page.title).toContain('Notes');
});

it('a page that a converter chokes on ends its thread, and nothing else', async () => {
  const hostile = `${'<div><b><i>'.repeat(60_000)}x`;
  await expect(convertPage(hostile, { timeoutMs: 500, signal: never })).rejects.toThrow(
    'could not be converted',
  );
  await expect(
    convertPage('<p>a</p>', { timeoutMs: 20_000, signal: never }),
  ).resolves.toMatchObject({
    text_md: 'a',
  });
});
