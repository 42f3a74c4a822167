import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TemporaryHome {
  /** Path that a store gets as its home. */
  readonly home: string;
  /** A directory beside it, where nothing may appear. */
  readonly outside: string;
  /** Paths of all files, links and directories below a directory, sorted. */
  list(dir: string): Promise<string[]>;
  remove(): Promise<void>;
}

export async function createTemporaryHome(): Promise<TemporaryHome> {
  const root = await mkdtemp(join(tmpdir(), 'planwave-store-'));
  const home = join(root, 'home');
  const outside = join(root, 'outside');
  await mkdir(outside);
  return {
    home,
    outside,
    list: async (dir) => (await readdir(dir, { recursive: true })).toSorted(),
    remove: () => rm(root, { recursive: true, force: true }),
  };
}

/** Names that have led programs out of their directory, or onto another name's file. */
export const hostileNames = [
  '',
  '.',
  '..',
  '../outside/x',
  '../../outside/x',
  '..\\outside\\x',
  '/etc/passwd',
  'C:\\x',
  'a/b',
  'a\0b',
  'a%2f..%2fb',
  '%2e%2e',
  'con',
  'CON',
  'Run',
  'run',
  'RUN',
  '\u00e9',
  'e\u0301',
  '\u212b',
  '\u00c5',
  '\ud800',
  '\udfff',
  '.hidden',
  'trailing.',
  'trailing ',
  'x.json',
  'n-x.json',
  'x'.repeat(5_000),
  `${'x'.repeat(4_999)}y`,
  '🌍'.repeat(100),
] as const;
