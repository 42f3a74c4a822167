import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { createMcpServer } from '../../mcp/create-mcp-server.ts';
import { serveHttp } from '../../mcp/serve-http.ts';
import { PlanwaveClientError } from '../../client-error.ts';
import { badInput } from '../cli-error.ts';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';

interface Options {
  readonly http?: string;
  readonly agents?: string;
}

/** Registers the command that offers planwave itself to chat clients. Its standard output carries the protocol and nothing else. */
export function registerServe(mcp: Command, runner: CommandRunner): void {
  mcp
    .command('serve')
    .description('offer planwave to a chat client over MCP: standard input and output, or HTTP')
    .option('--http <port>', 'serve on this port of loopback, with the token of PLANWAVE_MCP_TOKEN')
    .option(
      '--agents <folder>',
      "agents for runs that a chat starts, on the worker's machine; they may be granted the web",
    )
    .action((options: Options, command: Command) =>
      runner.run(command, (context) => serve(context, options)),
    );
}

async function serve(context: CommandContext, { http, agents }: Options): Promise<CommandResult> {
  const { deps } = context;
  if (context.json) throw badInput('mcp serve has no --json: its output is the protocol');
  const create = () =>
    createMcpServer({
      connect: async () => (await context.session()).client,
      agentsDir: agents === undefined ? undefined : resolve(deps.cwd, agents),
      version: deps.version ?? 'unknown',
      readResult: async (runId) => (await deps.readResult(runId))?.result_md ?? null,
    });
  const serving =
    http === undefined ? serveOnStdio(create) : serveOnHttp(context, create, readPort(http));
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
  const { PLANWAVE_MCP_TOKEN: given } = deps.env;
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

function readPort(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw badInput(`--http: expected a port from 0 to 65535, got ${JSON.stringify(text)}`);
}
