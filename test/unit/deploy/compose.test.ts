import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';

const Compose = z.object({
  services: z.record(
    z.string(),
    z.object({
      image: z.string(),
      cap_drop: z.array(z.string()),
      cap_add: z.array(z.string()).default([]),
      security_opt: z.array(z.string()),
      read_only: z.boolean(),
      pids_limit: z.number(),
      mem_limit: z.string(),
      networks: z.array(z.string()),
      environment: z.record(z.string(), z.string()),
      ports: z.array(z.string()).default([]),
      command: z.array(z.string()).default([]),
    }),
  ),
});

const { services } = Compose.parse(
  parse(readFileSync('docker-compose.temporal.yml', 'utf8'), { merge: true }),
);
const names = Object.keys(services);
const { version }: { version: string } = JSON.parse(readFileSync('package.json', 'utf8'));

describe('finding T10: containers of docker-compose.temporal.yml', () => {
  it('are all looked at', () => {
    expect(names).toHaveLength(7);
  });

  it('are made of images that are pinned by version and digest', () => {
    const base = /^FROM (\S+)$/mu.exec(readFileSync('deploy/Dockerfile', 'utf8'))?.[1] ?? '';
    const own = `planwave:${version}`;
    const images = [base, ...names.flatMap((name) => services[name]?.image ?? [])];
    const pinned = /^[\w./-]+:\d[\w.-]+@sha256:[\da-f]{64}$/u;
    expect(images.filter((image) => image !== own && !pinned.test(image))).toEqual([]);
  });

  it.each(names)('%s has no more rights than it needs', (name) => {
    const service = services[name];
    expect(service?.cap_drop).toEqual(['ALL']);
    expect(service?.security_opt).toContain('no-new-privileges:true');
    expect(service?.read_only).toBe(true);
    expect(service?.cap_add.length === 0).toBe(name !== 'postgresql');
  });

  it.each(names)('%s has its secrets in files', (name) => {
    const secret = /PASSWORD(?!_FILE)|PWD|API_KEY(?!_FILE)|TOKEN/;
    expect(
      Object.keys(services[name]?.environment ?? {}).filter((key) => secret.test(key)),
    ).toEqual([]);
  });

  it('only Temporal and what sets it up reach the database', () => {
    const reaching = names.filter((name) => services[name]?.networks.includes('database'));
    expect(reaching.toSorted()).toEqual(['postgresql', 'temporal', 'temporal-schema']);
  });

  it.each(names)('%s listens on loopback only', (name) => {
    expect(services[name]?.ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
  });
});

describe('the image', () => {
  const dockerfile = readFileSync('deploy/Dockerfile', 'utf8');
  const copied = [...dockerfile.matchAll(/^COPY (.+) \S+$/gmu)].flatMap(([, sources = '']) =>
    sources.split(' '),
  );

  it('finds everything that it copies in its context', () => {
    const kept = readFileSync('.dockerignore', 'utf8').split('\n');
    expect(copied).toContain('encryption');
    expect(copied.filter((source) => !kept.includes(`!${source}`))).toEqual([]);
  });

  it('has every folder of the sources that the worker is made of', () => {
    const { references }: { references: { path: string }[] } = JSON.parse(
      readFileSync('tsconfig.json', 'utf8'),
    );
    const folders = references.map(({ path }) => path.split('/')[0] ?? '');
    expect(folders).toContain('worker');
    const without = folders.filter((folder) => !copied.includes(folder));
    // The entry points of the package, and the tests.
    expect(without.toSorted()).toEqual(['library', 'test']);
  });

  it('has git, in which a run with a workspace keeps its changes', () => {
    expect(dockerfile).toMatch(/apt-get install .*\bgit\b/);
  });
});

describe('the key of the worker', () => {
  const folder = mkdtempSync(join(tmpdir(), 'planwave-compose-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const script = services['worker']?.command[2] ?? '';

  /** Runs the worker's script with a stand-in for the worker. @returns its exit code, and the key and address that it would work with. */
  function start(keyFile: string) {
    const shell = script
      .replaceAll('$$', '$')
      .replace('/run/secrets/anthropic-api-key', keyFile)
      .replace('exec node', 'exec echo "$ANTHROPIC_API_KEY $ANTHROPIC_BASE_URL"');
    const env = { PATH: process.env['PATH'], ANTHROPIC_BASE_URL: '' };
    const { status, stdout } = spawnSync('sh', ['-c', shell], { env, encoding: 'utf8' });
    return { status, said: stdout.trim() };
  }

  it('is the one of its file', () => {
    writeFileSync(join(folder, 'key'), 'sk-mine');
    expect(start(join(folder, 'key'))).toEqual({
      status: 0,
      said: 'sk-mine  scripts/planwave.mjs worker',
    });
  });

  it('is that of the rehearsal model without one', () => {
    expect(start('/dev/null')).toEqual({
      status: 0,
      said: 'rehearsal http://rehearsal:8787 scripts/planwave.mjs worker',
    });
  });

  it('ends the worker when its file cannot be read', () => {
    expect(start(join(folder, 'missing'))).toEqual({ status: 1, said: '' });
  });
});
