import {
  closeSync,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { cpus, loadavg, totalmem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { findTemporalCli } from '../../scripts/bootstrap/find-temporal-cli.mjs';
import { root } from '../../scripts/bootstrap/hand-over.mjs';
import { runCommand } from '../../scripts/bootstrap/run-command.mjs';
import { summarise } from './statistics.ts';
import type { Summary } from './statistics.ts';

/** Conditions that affect the figures besides planwave. */
export interface Machine {
  readonly planwave: string;
  /** Version of the TypeScript SDK. */
  readonly temporal_sdk: string;
  /** As the Temporal CLI says it, its server's version included. */
  readonly temporal_cli: string;
  readonly node: string;
  readonly system: string;
  readonly processor: string;
  readonly cores: number;
  readonly memory_bytes: number;
  /** Milliseconds until 1 KB is on the disk that holds the server's database: a step of the engine waits for it. */
  readonly fsync_ms: Summary;
  /** Processes that wanted to run in the minute before: near zero on an idle machine. */
  readonly load: number;
}

const writes = 200;
const bytesPerWrite = 1_024;

export async function describeMachine(): Promise<Machine> {
  const [load = 0] = loadavg();
  const processors = cpus();
  return {
    planwave: readVersion('package.json'),
    temporal_sdk: readVersion('node_modules/@temporalio/worker/package.json'),
    temporal_cli: await readCliVersion(),
    node: process.version,
    system: `${process.platform} ${process.arch}`,
    processor: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memory_bytes: totalmem(),
    fsync_ms: measureFsync(),
    load,
  };
}

function readVersion(path: string): string {
  const { version }: { version: string } = JSON.parse(readFileSync(join(root, path), 'utf8'));
  return version;
}

async function readCliVersion(): Promise<string> {
  const { path, version } = await findTemporalCli();
  const { output } = await runCommand(path, ['--version']);
  return /temporal version (.+)/.exec(output)?.[1]?.trim() ?? version;
}

/** Where the servers of the bench have their databases. */
function measureFsync(): Summary {
  const folder = mkdtempSync(join(tmpdir(), 'planwave-fsync-'));
  const file = openSync(join(folder, 'log'), 'w');
  const bytes = Buffer.alloc(bytesPerWrite, 'x');
  try {
    return summarise(
      Array.from({ length: writes }, () => {
        const startedAt = performance.now();
        writeSync(file, bytes);
        fdatasyncSync(file);
        return performance.now() - startedAt;
      }),
    );
  } finally {
    closeSync(file);
    rmSync(folder, { recursive: true, force: true });
  }
}
