import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { atTestEnd } from './cleanup.ts';

/** A user's repository and an artifact home, in a folder that goes away after the test. */
export interface GitFixture {
  readonly root: string;
  readonly home: string;
  readonly dir: string;
}

export function createGitFixture(files: Readonly<Record<string, string>>): GitFixture {
  const root = mkdtempSync(join(tmpdir(), 'planwave-git-'));
  atTestEnd(() => rmSync(root, { recursive: true, force: true }));
  const dir = join(root, 'repo');
  put(dir, files);
  userGit(dir, 'init', '--quiet');
  userGit(dir, 'add', '--all', '--force');
  commitAll(dir);
  return { root, home: join(root, 'home'), dir };
}

export function put(dir: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
}

export function commitAll(dir: string): void {
  userGit(dir, 'commit', '--quiet', '--allow-empty', '-m', 'change');
}

/** Git as the user calls it in a shell. */
export function userGit(dir: string, ...args: readonly string[]): string {
  const who = ['-c', 'user.name=user', '-c', 'user.email=user@localhost'];
  return execFileSync('git', ['-C', dir, ...who, ...args], { encoding: 'utf8' });
}

/** Writes a program that leaves a file when it runs. */
export function plantProgram(root: string): {
  readonly program: string;
  readonly hasRun: () => boolean;
} {
  const program = join(root, 'planted.sh');
  writeFileSync(program, `#!/bin/sh\ntouch ${join(root, 'has-run')}\n`);
  chmodSync(program, 0o755);
  return { program, hasRun: () => readdirSync(root).includes('has-run') };
}
