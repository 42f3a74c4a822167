import { cleanLine } from '../../../core/text/cut-text.ts';
import { listNames } from '../../../core/text/list-names.ts';
import type { PinnedTool } from '../../ports/mcp-servers.ts';
import { mcpPrefix } from './pin-tools.ts';

/** Most tools of one agent, as its definition allows. */
const toolsMax = 50;

export function isMcpGrant(name: string): boolean {
  return name.startsWith(mcpPrefix);
}

/**
 * Returns the server that a grant names: `mcp__github__search`, `mcp__github__*` or `mcp__github`. Null when it can be no
 * grant.
 */
export function serverOfGrant(grant: string): string | null {
  const [, server] = /^mcp__([A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*)(?:__.{1,60})?$/.exec(grant) ?? [];
  return server ?? null;
}

/** Grants of an agent as names of tools, and what is wrong with them. */
export interface ExpandedGrants {
  readonly tools: readonly string[];
  readonly faults: readonly string[];
}

/**
 * Replaces the grants of servers' tools by the names of tools.
 *
 * @param pins Tools of all servers. A grant of a server that has none here must have been removed.
 */
export function expandGrants(
  allowedTools: readonly string[],
  pins: readonly PinnedTool[],
): ExpandedGrants {
  const faults: string[] = [];
  const tools = allowedTools.flatMap((grant) => {
    if (!isMcpGrant(grant)) return [grant];
    const ofServer = pins.filter(({ server }) => server === serverOfGrant(grant));
    const isWhole = grant.endsWith('__*') || grant === `${mcpPrefix}${serverOfGrant(grant)}`;
    const found = ofServer.filter(({ name }) => isWhole || name === grant);
    if (found.length === 0) {
      const known =
        ofServer.length === 0
          ? 'it has none'
          : `it has ${listNames(ofServer.map(({ name }) => name))}`;
      faults.push(
        `the server of ${cleanLine(grant, 80)} has no such tool: ${known}. Try: planwave mcp check`,
      );
    }
    return found.map(({ name }) => name);
  });
  const unique = [...new Set(tools)];
  if (unique.length > toolsMax) {
    faults.push(
      `it is granted ${unique.length} tools, and at most ${toolsMax} can be. Try: name the tools instead of mcp__<server>__*`,
    );
  }
  return { tools: unique, faults };
}

/** Returns the properties that pinned tools bring, by their names. */
export function propertiesOf(
  pins: readonly PinnedTool[],
): Readonly<Record<string, PinnedTool['brings']>> {
  return Object.fromEntries(pins.map(({ name, brings }) => [name, brings]));
}
