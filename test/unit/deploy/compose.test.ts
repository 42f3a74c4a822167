import { readFileSync } from 'node:fs';
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
