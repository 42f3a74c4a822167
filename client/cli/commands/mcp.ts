import { resolve } from 'node:path';
import type { Command } from 'commander';
import { countOf } from '../../../core/text/format.ts';
import type { CheckedMcpServer, CliMcp, ListedMcp } from '../cli-deps.ts';
import { badInput, CliError, exitCodes } from '../cli-error.ts';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { registerServe } from './mcp-serve.ts';
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
    .action((options: AgentsOption, command: Command) =>
      runner.run(command, (context) => listServers(context, options)),
    );
  mcp
    .command('check')
    .argument('[server]', 'name of one server; default: all of them')
    .description('start the servers and show their tools, with grants and hashes')
    .option(...own)
    .action((server: string | undefined, options: AgentsOption, command: Command) =>
      runner.run(command, (context) => checkServers(context, server, options)),
    );
  registerServe(mcp, runner);
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
