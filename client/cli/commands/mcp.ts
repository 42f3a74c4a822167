import { resolve } from 'node:path';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Command } from 'commander';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { countOf } from '../../../core/text/format.ts';
import { createMcpServer, serveHttp } from '../../mcp/create-mcp-server.ts';
import { PlanwaveClientError } from '../../client-error.ts';
import type { CheckedMcpServer, CliMcp, ListedMcp } from '../cli-deps.ts';
import { readPort, readTenant } from './input-options.ts';
import { badInput, CliError, exitCodes } from '../cli-error.ts';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { cleanLine, renderTable } from '../terminal-text.ts';

interface AgentsOption {
  readonly agents?: string;
}

/** Registers the commands for the Model Context Protocol. Only `serve` asks the Temporal server. */
export function registerMcp(mcp: Command, runner: CommandRunner): void {
  mcp.enablePositionalOptions();
  const own = ['--agents <folder>', 'folder with your own agents'] as const;
  mcp
    .command('list')
    .description('list the servers of PLANWAVE_MCP and the agents that are granted their tools')
    .option(...own)
    .action(runner(listServers));
  mcp
    .command('check')
    .argument('[server]', 'name of one server; default: all of them')
    .description('start the servers and show their tools, with grants and hashes')
    .option(...own)
    .action(runner(checkServers));
  // Its standard output carries the protocol and nothing else.
  mcp
    .command('serve')
    .description('offer planwave to a chat client over MCP: standard input and output, or HTTP')
    .option('--http <port>', 'serve on this port of loopback, with the token of PLANWAVE_MCP_TOKEN')
    .option(
      '--agents <folder>',
      "agents for runs that a chat starts, on the worker's machine; they may be granted the web",
    )
    .option('--tenant <name>', 'whom the runs that a chat starts work for')
    .action(runner(serve));
}

function agentsDirOf({ deps }: CommandContext, { agents }: AgentsOption): string | null {
  return agents === undefined ? null : resolve(deps.cwd, agents);
}

function mcpOf({ deps }: CommandContext): CliMcp {
  if (deps.mcp !== undefined) return deps.mcp;
  throw badInput('MCP servers are not available here');
}

const noServers =
  'No MCP servers. Name a .mcp.json in PLANWAVE_MCP, for this shell and for the worker (docs/mcp.md).';

async function listServers(context: CommandContext, options: AgentsOption): Promise<CommandResult> {
  const listed = await mcpOf(context).list(agentsDirOf(context, options));
  const rows = listed.servers.map(({ name, transport, where, trusted, sandboxed, granted_to }) => [
    cleanLine(name),
    transport,
    cleanLine(where, 60),
    [trusted ? 'trusted' : '', sandboxed ? 'sandboxed' : ''].filter(Boolean).join(', ') || '–',
    cleanLine(granted_to.join(', ') || 'no agent', 60),
  ]);
  const table = renderTable(['server', 'by', 'at', 'marks', 'granted to'], rows);
  return {
    data: listed,
    lines: [...(rows.length === 0 ? [noServers] : table), ...describeUnknown(listed)],
  };
}

function describeUnknown({ unknown }: ListedMcp): string[] {
  return unknown.map(({ agent, grant }) =>
    cleanLine(`The agent ${agent} goes without ${grant}: no server has that name.`),
  );
}

async function checkServers(
  context: CommandContext,
  server: string | undefined,
  options: AgentsOption,
): Promise<CommandResult> {
  const mcp = mcpOf(context);
  const dir = agentsDirOf(context, options);
  const listed = await mcp.list(dir);
  const names = listed.servers.map(({ name }) => name);
  if (server !== undefined && !names.includes(server)) {
    const message = `There is no MCP server ${cleanLine(server, 60)}. Servers are: ${names.join(', ') || 'none'}`;
    throw new CliError('not_found', exitCodes.notFound, message);
  }
  const checked = await mcp.check(dir, server ?? null);
  const ok = checked.every(({ fault }) => fault === null);
  return {
    data: { ok, servers: checked },
    lines: checked.length === 0 ? [noServers] : checked.flatMap(describeServer(context)),
    exitCode: ok ? exitCodes.ok : exitCodes.unmet,
  };
}

/** Characters of a hash that people compare. */
const hashChars = 12;

function describeServer({ paint }: CommandContext): (server: CheckedMcpServer) => string[] {
  return ({ name, fault, tools, left_out }) => {
    if (fault !== null) return [`${paint('bad', '✗')} ${cleanLine(`${name}: ${fault}`)}`];
    const rows = tools.map((tool) => [
      tool.name,
      tool.effect,
      cleanLine(tool.brings.join(', ') || 'nothing'),
      tool.hash.slice(0, hashChars),
      cleanLine(tool.granted_to.join(', ') || 'no agent', 60),
    ]);
    return [
      `${paint('good', '✓')} ${cleanLine(name)}: ${countOf(tools.length, 'tool')}`,
      ...renderTable(['tool', 'effect', 'brings', 'hash', 'granted to'], rows),
      ...left_out.map(({ tool, reason }) => cleanLine(`left out: ${tool}, because ${reason}`)),
    ];
  };
}

interface Options {
  readonly http?: string;
  readonly agents?: string;
  readonly tenant?: string;
}

/** Offers planwave itself to chat clients. */
async function serve(
  context: CommandContext,
  { http, agents, tenant: typed }: Options,
): Promise<CommandResult> {
  const { deps } = context;
  if (context.json) throw badInput('mcp serve has no --json: its output is the protocol');
  const tenant = typed === undefined ? undefined : readTenant(typed);
  const create = () =>
    createMcpServer({
      tenant,
      connect: async () => (await context.session()).client,
      agentsDir: agents === undefined ? undefined : resolve(deps.cwd, agents),
      version: deps.version ?? 'unknown',
      readResult: async (runId) => (await deps.readResult(runId))?.result_md ?? null,
    });
  const serving =
    http === undefined
      ? serveOnStdio(create)
      : serveOnHttp(context, create, readPort('--http', http));
  await Promise.race([serving, reportServer(context).then(() => serving)]);
  return { data: undefined, lines: [] };
}

/**
 * Tells the operator when no Temporal server answers yet: a chat client starts this program whenever it likes, and each call
 * tries anew.
 *
 * @throws PlanwaveClientError for settings that no waiting mends.
 */
async function reportServer({ deps, session }: CommandContext): Promise<void> {
  try {
    await session();
  } catch (error) {
    const isAway = error instanceof PlanwaveClientError && error.code === 'unreachable';
    if (!isAway) throw error;
    deps.io.stderr.write(`${error.message} Every call tries to connect again.\n`);
  }
}

/** Ends with standard input, as clients close it. */
async function serveOnStdio(create: () => ReturnType<typeof createMcpServer>): Promise<void> {
  const transport = new StdioServerTransport();
  const ended = Promise.race([once(process.stdin, 'end'), once(process.stdin, 'close')]);
  const handle = serveStdio(create, { transport });
  await ended;
  await handle.close();
}

async function serveOnHttp(
  { deps }: CommandContext,
  create: () => ReturnType<typeof createMcpServer>,
  port: number,
): Promise<void> {
  const given = deps.env['PLANWAVE_MCP_TOKEN'] || undefined;
  if (given !== undefined && !/^[\u0021-\u007e]{16,500}$/u.test(given)) {
    throw badInput('PLANWAVE_MCP_TOKEN: expected at least 16 printable characters without spaces');
  }
  const token = given ?? randomBytes(24).toString('hex');
  const face = await serveHttp(create, { port, token });
  const shown = given === undefined ? `, token ${token}` : ', token of PLANWAVE_MCP_TOKEN';
  deps.io.stderr.write(`MCP at ${face.url}${shown}\n`);
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  await face.close();
}
