import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openMcpServers } from '../../../activities/adapters/mcp/open-mcp-servers.ts';
import type { McpServer, McpServers, PinnedTool } from '../../../activities/ports/mcp-servers.ts';

export const oddServerFile = fileURLToPath(new URL('odd-server.mjs', import.meta.url));

/** Servers that misbehave, and what they note. Ended by `end`. */
export interface OddServers {
  /** Opens a pool with one server named "odd". */
  open(options?: OddOptions): McpServers;
  /** Starts one by HTTP. `port` 0: a free one. */
  serve(flags?: readonly string[], port?: number): Promise<{ readonly url: string; kill(): void }>;
  /** Lines that the servers have noted. */
  notes(): string[];
  pin(mcp: McpServers, tool: string): Promise<PinnedTool>;
  end(): Promise<void>;
}

interface OddOptions extends Partial<Pick<McpServer, 'timeoutMs' | 'trusted' | 'brings'>> {
  readonly flags?: readonly string[];
  /** Of the server by HTTP. If undefined: by standard input and output. */
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly transport?: McpServer['transport'];
  /** Program and arguments that start it. */
  readonly behind?: readonly string[];
  readonly idleMs?: number;
  readonly connectionsMax?: number;
}

export function createOddServers(): OddServers {
  const folder = mkdtempSync(join(tmpdir(), 'planwave-mcp-'));
  const log = join(folder, 'notes');
  const pools: McpServers[] = [];
  const children: ChildProcess[] = [];
  const notes = (): string[] => {
    try {
      return readFileSync(log, 'utf8').split('\n').filter(Boolean);
    } catch {
      return [];
    }
  };
  return {
    notes,
    open({
      flags = [],
      url,
      headers = {},
      behind = [],
      transport,
      idleMs,
      connectionsMax,
      ...rest
    } = {}) {
      const [command = '', ...before] = [...behind, process.execPath];
      const stdio = {
        type: 'stdio',
        command,
        args: [...before, oddServerFile, '--log', log, ...flags],
        env: { ODD_TOKEN: 'for-odd' },
        sandbox: null,
      } as const;
      const server: McpServer = {
        name: 'odd',
        file: 'test',
        transport: transport ?? (url === undefined ? stdio : { type: 'http', url, headers }),
        timeoutMs: 20_000,
        trusted: false,
        brings: null,
        approval: 'by_risk',
        ...rest,
      };
      const pool = openMcpServers(new Map([['odd', server]]), {
        ...(idleMs !== undefined && { idleMs }),
        ...(connectionsMax !== undefined && { connectionsMax }),
      });
      pools.push(pool);
      return pool;
    },
    async serve(flags = [], port = 0) {
      const child = spawn(
        process.execPath,
        [oddServerFile, '--log', log, '--http', String(port), ...flags],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      );
      children.push(child);
      const [first] = await once(child.stdout, 'data');
      return {
        url: `http://127.0.0.1:${String(first).trim()}/mcp`,
        kill: () => void child.kill('SIGKILL'),
      };
    },
    async pin(mcp, tool) {
      const found = (await mcp.list('odd')).tools.find((one) => one.tool === tool);
      if (found === undefined) throw new Error(`no tool ${tool}`);
      return found;
    },
    async end() {
      await Promise.all(pools.map((pool) => pool.close()));
      for (const child of children) child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Calls a tool for a run, with a signal of its own. */
export function callOdd(
  mcp: McpServers,
  pin: PinnedTool,
  input: unknown = {},
  options: {
    readonly run_id?: string;
    readonly signal?: AbortSignal;
    readonly onProgress?: (words: string) => void;
  } = {},
) {
  const {
    run_id = 'run-1',
    signal = new AbortController().signal,
    onProgress = () => {},
  } = options;
  return mcp.call({ run_id, pin, input, signal, onProgress });
}
