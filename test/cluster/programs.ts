import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { lastLines, runCommand } from '../../scripts/bootstrap/run-command.mjs';
import { cacheDir } from '../../scripts/bootstrap/temporal-cli-cache.mjs';

/** Programs of a cluster that Go builds from the module proxy, once for each machine and version. */
const modules = {
  temporal: {
    purpose: 'Temporal server',
    folder: 'temporal-server-1.32.0',
    // The name of a command is that of its folder.
    commands: {
      server: 'go.temporal.io/server/cmd/server@v1.32.0',
      sql: 'go.temporal.io/server/cmd/tools/sql@v1.32.0',
    },
  },
  objects: {
    purpose: 'S3 server versitygw',
    folder: 'versitygw-1.8.0',
    commands: { versitygw: 'github.com/versity/versitygw/cmd/versitygw@v1.8.0' },
  },
} as const;

export type ModuleName = keyof typeof modules;

export interface FoundPrograms {
  /** Folder of the programs; null when they are missing. */
  readonly folder: string | null;
  /** Why they are missing and what to do, for people; empty when they are there. */
  readonly missing: string;
}

/** Looks for programs that were built already. */
export function findPrograms(name: ModuleName): FoundPrograms {
  const { purpose, folder, commands } = modules[name];
  const path = join(cacheDir(process.env), 'cluster', folder);
  if (Object.keys(commands).every((command) => existsSync(join(path, command)))) {
    return { folder: path, missing: '' };
  }
  const missing = `The ${purpose} is not in ${path}. Try: npm run cluster, which builds it with Go 1.26 or newer, in some minutes`;
  return { folder: null, missing };
}

/** Finds programs, or builds them, which takes minutes. A failure is no error: the part is skipped. */
export async function ensurePrograms(
  name: ModuleName,
  say: (line: string) => void,
): Promise<FoundPrograms> {
  const found = findPrograms(name);
  if (found.folder !== null) return found;
  const { purpose, folder, commands } = modules[name];
  const path = join(cacheDir(process.env), 'cluster', folder);
  // The usual place of an installation that is not on PATH.
  const env = {
    ...process.env,
    PATH: `${process.env['PATH'] ?? ''}:/usr/local/go/bin`,
    GOBIN: path,
    CGO_ENABLED: '0',
  };
  const go = await runCommand('go', ['version'], { env });
  if (!go.ok) {
    return {
      folder: null,
      missing: `The ${purpose} can't be built: ${go.reason}. Try: install Go`,
    };
  }
  say(`Building the ${purpose} with Go; this takes some minutes, once …`);
  for (const source of Object.values(commands)) {
    // One after the other: they share most of their packages.
    // oxlint-disable-next-line no-await-in-loop
    const built = await runCommand('go', ['install', source], { env });
    if (built.ok) continue;
    const said = lastLines(built.output, 3);
    return {
      folder: null,
      missing: `The ${purpose} can't be built: ${built.reason}\n${said}\nTry: look whether the Go module proxy can be reached`,
    };
  }
  return findPrograms(name);
}
