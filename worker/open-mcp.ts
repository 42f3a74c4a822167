import { readFileSync } from 'node:fs';
import { openMcpServers } from '../activities/adapters/mcp/open-mcp-servers.ts';
import type { McpServer, McpServers } from '../activities/ports/mcp-servers.ts';
import { readServers } from '../activities/tools/mcp/read-servers.ts';
import { collectOwnSecrets } from '../redaction/own-secrets.ts';
import { badModule } from './load-modules.ts';
import { messageOf } from '../core/text/message-of.ts';

const variable = 'PLANWAVE_MCP';

/**
 * Reads the servers of the operator's files.
 *
 * @param files Absolute paths.
 * @throws {BadSettings} with every fault of the first file that has one, and for a name that two files have.
 */
export function readMcpServers(
  files: readonly string[],
  env: NodeJS.ProcessEnv,
): ReadonlyMap<string, McpServer> {
  const servers = new Map<string, McpServer>();
  for (const file of files) {
    const read = readServers(file, readText(file), env);
    if (!read.ok) throw badModule({ variable, file }, read.faults, 'the example in docs/mcp.md');
    for (const server of read.servers) {
      const twin = servers.get(server.name);
      if (twin !== undefined) {
        const fault = `mcpServers.${server.name}: the name is taken by ${twin.file}`;
        throw badModule({ variable, file }, [fault], 'another name');
      }
      servers.set(server.name, server);
    }
  }
  return servers;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw badModule(
      { variable, file },
      [`it can't be read: ${messageOf(error)}`],
      'the path of a .mcp.json',
    );
  }
}

/** Opens the servers of the operator's files. None is started before a run needs it. */
export function openMcp(files: readonly string[], env: NodeJS.ProcessEnv): McpServers {
  return openMcpServers(readMcpServers(files, env));
}

/** Collects the secrets in the entries of servers: headers, and variables with a telling name. */
export function collectMcpSecrets(servers: ReadonlyMap<string, McpServer>): string[] {
  return [...servers.values()].flatMap(({ transport }) => {
    if (transport.type === 'stdio') return collectOwnSecrets(transport.env);
    const values = Object.values(transport.headers).map((value) => value.replace(/^\w+ /, ''));
    return collectOwnSecrets(
      Object.fromEntries(values.map((value, at) => [`HEADER_TOKEN_${at}`, value])),
    );
  });
}
