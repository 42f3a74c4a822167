import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createFileArtifactStore } from '../../../activities/adapters/file-store/file-artifact-store.ts';
import { createFileEffectLedger } from '../../../activities/adapters/file-store/file-ledgers.ts';
import { createGitWorktrees } from '../../../activities/adapters/git/git-worktrees.ts';
import { createFileWorkspaces } from '../../../activities/adapters/workspaces/file-workspaces.ts';
import { createTools } from '../../../activities/tools/registry/create-registry.ts';
import { recallEffect, runEffect } from '../../../activities/tools/run-effect.ts';
import type { ReadContext, Tool } from '../../../activities/tools/tool.ts';
import { openCommands } from '../../../worker/open-commands.ts';
import { readCommandSettings } from '../../../worker/worker-settings.ts';
import type { Figure, FigureRow } from '../figure.ts';
import { formatSummary } from '../format.ts';
import { summarise } from '../statistics.ts';

const files = 1_400;
const calls = { worktree: 5, read: 20, edit: 30, command: 10 };
const msMax = { worktree: 1_000, file: 10, command: 60 };

export const tools: Figure = {
  name: 'tools',
  about: 'worktree, reads, edits and commands on a repository of 1,400 files',
  async measure({ sizeOf }) {
    const root = mkdtempSync(join(tmpdir(), 'planwave-tools-'));
    try {
      return await measureIn(root, sizeOf);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  },
};

async function measureIn(
  root: string,
  sizeOf: (promised: number) => number,
): Promise<readonly FigureRow[]> {
  const dir = join(root, 'repository');
  writeRepository(dir, sizeOf(files));
  const bench = await openBench(join(root, 'home'), dir);
  settleDisk();
  // The first worktree of a run each: with the run's repository.
  const worktrees = await timesOf(sizeOf(calls.worktree), (n) =>
    bench.read('git_status', {}, `bench-${n}`),
  );
  settleDisk();
  const copyOf = (n: number): string => join(root, `bare-${n}`);
  const bareWorktrees = await timesOf(sizeOf(calls.worktree), async (n) => {
    execFileSync('git', ['-C', dir, 'worktree', 'add', '--detach', '--quiet', copyOf(n)]);
  });
  settleDisk();
  const bare = (path: string): string => join(copyOf(0), path);
  const reads = await timesOf(sizeOf(calls.read), (n) =>
    bench.read('read_file', { path: pathOf(n) }),
  );
  const bareReads = await timesOf(sizeOf(calls.read), (n) => readFile(bare(pathOf(n)), 'utf8'));
  const edits = await timesOf(sizeOf(calls.edit), (n) =>
    bench.act('edit_file', { path: pathOf(n), old_string: `value${n} =`, new_string: 'edited =' }),
  );
  const bareEdits = await timesOf(sizeOf(calls.edit), async (n) => {
    const text = await readFile(bare(pathOf(n)), 'utf8');
    await writeFile(bare(pathOf(n)), text.replace(`value${n} =`, 'edited ='));
  });
  const rows = [
    toRow('a worktree', { measured: worktrees, floor: bareWorktrees, msMax: msMax.worktree }),
    toRow('a read', { measured: reads, floor: bareReads, msMax: msMax.file }),
    toRow('an edit', { measured: edits, floor: bareEdits, msMax: msMax.file }),
  ];
  if (!bench.hasCommands) return rows;
  const commands = await timesOf(sizeOf(calls.command), () =>
    bench.act('run_command', { argv: ['true'] }),
  );
  const run = promisify(execFile);
  const bareCommands = await timesOf(sizeOf(calls.command), () => run('true'));
  const above = { msMax: msMax.command, isAbove: true };
  return [...rows, toRow('a command', { measured: commands, floor: bareCommands, ...above })];
}

/** Waits until the disk has what the benchmark itself, or the one before it, wrote and removed. */
function settleDisk(): void {
  execFileSync('sync');
}

function pathOf(n: number): string {
  return `src/part${n % 20}/file${n}.ts`;
}

function writeRepository(dir: string, count: number): void {
  for (let n = 0; n < count; n += 1) {
    const path = join(dir, pathOf(n));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `export const value${n} = ${n};\n`.padEnd(4_000, '// a line of code\n'));
  }
  const git = (...args: readonly string[]): void => {
    const who = ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost'];
    execFileSync('git', ['-C', dir, ...who, ...args]);
  };
  git('init', '--quiet');
  git('add', '--all');
  git('commit', '--quiet', '-m', 'all');
}

/** Opens the tools as a worker does, for one delegation, with files on disk for store and ledger. */
async function openBench(home: string, dir: string) {
  const store = createFileArtifactStore({ home });
  const worktrees = createGitWorktrees({ home });
  const keep = (content: Uint8Array) => store.put(content);
  const workspaces = createFileWorkspaces({ home, worktrees, keep });
  const found = await openCommands(readCommandSettings({}));
  const commands = 'runner' in found ? found.runner : null;
  const registry = createTools({ workspaces, worktrees, commands });
  const record = { version: 1, revision: 0, previous_ref: null, workspace_dir: dir, waves: [] };
  const context: ReadContext = {
    store,
    run_id: 'bench-0',
    delegation_id: 'bench',
    builds_on: [],
    record_ref: await store.put(JSON.stringify(record)),
    signal: new AbortController().signal,
    upstream: [],
    loads_left: 0,
    listAddresses: async () => [],
    onLoaded: () => {},
  };
  const ledger = createFileEffectLedger({ home });
  const toolOf = (name: string): Tool => {
    const tool = registry.get(name);
    if (tool === undefined) throw new Error(`There is no tool ${name}.`);
    return tool;
  };
  let key = 0;
  return {
    hasCommands: commands !== null,
    async read(name: string, input: object, run_id = context.run_id): Promise<void> {
      const tool = toolOf(name);
      if (tool.effect !== 'read') throw new Error(`${name} does not read.`);
      await tool.run(tool.spec.input.parse(input), { ...context, run_id });
    },
    async act(name: string, input: object): Promise<void> {
      const tool = toolOf(name);
      if (tool.effect !== 'acting') throw new Error(`${name} does not act.`);
      key += 1;
      const id = key.toString(16).padStart(64, '0');
      const call = {
        ledger,
        key: id,
        runId: 'bench',
        tool,
        input: tool.spec.input.parse(input),
        resolution: null,
        context,
        timeoutMs: 60_000,
        assertCurrent: async () => {},
      };
      const end = await runEffect(call, await recallEffect(ledger, id));
      if (end.type !== 'confirmed') throw new Error(`${name}: ${JSON.stringify(end)}`);
    },
  };
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

async function timesOf(count: number, work: (n: number) => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < count; n += 1) {
    // One after the other: they would measure each other.
    // oxlint-disable-next-line no-await-in-loop
    times.push(await timeOf(() => work(n)));
  }
  return times;
}

interface Measured {
  readonly measured: readonly number[];
  readonly floor: readonly number[];
  readonly msMax: number;
  /** True when the target is for what comes on top of the floor. */
  readonly isAbove?: boolean;
}

function toRow(
  what: string,
  { measured, floor, msMax: max, isAbove = false }: Measured,
): FigureRow {
  const ms = summarise(measured);
  const floorMs = summarise(floor);
  const judged = ms.median - (isAbove ? floorMs.median : 0);
  return {
    figure: `${what} of a repository of 1,400 files, by a tool beside the bare operation`,
    target: isAbove ? `≤ ${max} ms above the bare process` : `≤ ${max} ms`,
    measured: formatSummary(ms, 'ms'),
    floor: formatSummary(floorMs, 'ms'),
    reached: judged <= max,
    notes: '',
    numbers: { ms, floor_ms: floorMs },
  };
}
