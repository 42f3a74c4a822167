import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder of its own for one test. */
export function makeFolder(): string {
  return mkdtempSync(join(tmpdir(), 'planwave-scripts-'));
}

/** Writes a shell script that can be executed; `body` uses the shell's own commands only, so that PATH may be empty. */
export function writeExecutable(folder: string, name: string, body: string): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** A Temporal CLI as far as its version is concerned. */
export function writeFakeCli(folder: string, version: string): string {
  return writeExecutable(
    folder,
    'temporal',
    `echo "temporal version ${version} (Server 1.32.0, UI 2.54.0)"`,
  );
}
