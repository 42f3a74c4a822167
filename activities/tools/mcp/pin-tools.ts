import type { ToolProperty } from '../../../contracts/agent-definition.ts';
import { isRecord } from '../../../core/json.ts';
import { cleanLine, cutText, removeInvisible } from '../../../core/text/cut-text.ts';
import type { ListedTools, McpServer, PinnedTool } from '../../ports/mcp-servers.ts';
import { hashBytes } from '../../text/bytes.ts';

/** Limits of what one server may put into prompts. */
const limits = {
  nameChars: 64,
  descriptionChars: 2_000,
  schemaChars: 8_000,
  schemaTextChars: 500,
  /** A deeper schema could exhaust the stack of those who walk it. */
  schemaDepth: 30,
  tools: 200,
};

/** Characters of a name as people see it. */
const shownChars = 80;

/** Begins the names of all tools of servers. */
export const mcpPrefix = 'mcp__';

/**
 * Turns the list of a server into tools that can be offered. Everything in it is the server's word: names are cleaned,
 * texts cut, and hints count only for a server that the operator trusts.
 *
 * @param faults Faults of tools that do not fit the protocol, by the tool.
 */
export function pinTools(
  server: Pick<McpServer, 'name' | 'trusted' | 'brings'>,
  listed: readonly unknown[],
  faults: ReadonlyMap<unknown, string> = new Map(),
): ListedTools {
  const tools = listed
    .slice(0, limits.tools)
    .map((tool) => pinTool(server, tool, faults.get(tool) ?? null));
  const over = listed.length - tools.length;
  const counts = new Map<string, number>();
  for (const one of tools) {
    if ('hash' in one) counts.set(one.name, (counts.get(one.name) ?? 0) + 1);
  }
  const isTwin = (name: string): boolean => (counts.get(name) ?? 0) > 1;
  const good = tools.flatMap((one) => ('hash' in one && !isTwin(one.name) ? [one] : []));
  const leftOut = tools.flatMap((one) => {
    if (!('hash' in one)) return [one];
    if (!isTwin(one.name)) return [];
    return [
      { tool: cleanLine(one.tool, shownChars), reason: `another tool is named ${one.name} too` },
    ];
  });
  const rest = { tool: `${over} more`, reason: `only ${limits.tools} tools of a server are read` };
  return {
    tools: good.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    leftOut: over > 0 ? [...leftOut, rest] : leftOut,
  };
}

type LeftOut = ListedTools['leftOut'][number];

function pinTool(
  server: Pick<McpServer, 'name' | 'trusted' | 'brings'>,
  listed: unknown,
  fault: string | null,
): PinnedTool | LeftOut {
  const raw = isRecord(listed) ? listed : {};
  const tool = typeof raw['name'] === 'string' ? raw['name'] : '';
  const told = fault === null ? null : `it does not fit the protocol: ${cleanLine(fault, 200)}`;
  const reason = findReason(server.name, tool, raw) ?? told;
  if (reason !== null) return { tool: cleanLine(tool, shownChars) || '(without a name)', reason };
  const hints = isRecord(raw['annotations']) ? raw['annotations'] : {};
  const isReading = server.trusted && hints['readOnlyHint'] === true;
  return {
    name: nameTool(server.name, tool),
    server: server.name,
    tool,
    hash: hashTool(raw),
    description: cleanDescription(raw['description']),
    schema: cleanSchema(raw['inputSchema']),
    effect: isReading ? 'read' : 'acting',
    repeatable: server.trusted && hints['idempotentHint'] === true,
    brings: [...bringsOf(server, hints)],
  };
}

/** Names a tool as models see it. */
export function nameTool(server: string, tool: string): string {
  return `${mcpPrefix}${server}__${tool.replaceAll(/[^A-Za-z0-9_-]/g, '_')}`;
}

/** Hashes everything that a server says about a tool, whatever the order of its keys. */
export function hashTool(raw: Readonly<Record<string, unknown>>): string {
  const { name, description, inputSchema, outputSchema, annotations } = raw;
  const hash = hashBytes(
    JSON.stringify(sortKeys({ name, description, inputSchema, outputSchema, annotations })),
  );
  // In hexadecimal it would look like the address of an artifact.
  return Buffer.from(hash, 'hex').toString('base64url');
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isRecord(value)) return value;
  const keys = Object.keys(value).toSorted();
  // Pairs, because an object would sort keys that are numbers on its own and swallow "__proto__".
  return keys.map((key) => [key, sortKeys(value[key])]);
}

/** @returns why the tool can't be offered, or null. */
function findReason(
  server: string,
  tool: string,
  raw: Readonly<Record<string, unknown>>,
): string | null {
  const { inputSchema: schema, execution } = raw;
  if (tool === '') return 'it has no name';
  if (nameTool(server, tool).length > limits.nameChars) {
    return `${mcpPrefix}${server}__ and its name are longer than ${limits.nameChars} characters`;
  }
  if (isRecord(execution) && execution['taskSupport'] === 'required') {
    return 'it can only be called as a task of the protocol, which planwave does not support';
  }
  if (!isRecord(schema) || schema['type'] !== 'object') return 'its arguments are no object';
  if (depthOf(raw) > limits.schemaDepth) return 'its schemas are too deep';
  if (JSON.stringify(schema).length > limits.schemaChars) {
    return `the schema of its arguments is longer than ${limits.schemaChars} characters`;
  }
  const joint = ['anyOf', 'oneOf', 'allOf'].find((key) => key in schema);
  if (joint !== undefined) {
    return `the schema of its arguments has ${joint} at its root, which providers refuse`;
  }
  return null;
}

/** Returns the nesting of a value, counted to just beyond the limit. */
function depthOf(value: unknown, depth = 0): number {
  if (typeof value !== 'object' || value === null || depth > limits.schemaDepth) return depth;
  return Math.max(depth, ...Object.values(value).map((below) => depthOf(below, depth + 1)));
}

function cleanDescription(text: unknown): string {
  if (typeof text !== 'string') return '';
  return cutText(
    removeInvisible(text.slice(0, limits.descriptionChars * 4)).text.trim(),
    limits.descriptionChars,
  );
}

/** Cleans and cuts the texts of a schema; names and values stay. */
function cleanSchema(schema: unknown): Record<string, unknown> {
  const clean = (key: string, value: unknown): unknown => {
    if (Array.isArray(value)) return value.map((one) => clean('', one));
    if (isRecord(value)) {
      const entries = Object.entries(value).filter(([name]) => name !== '$schema');
      return Object.fromEntries(entries.map(([name, below]) => [name, clean(name, below)]));
    }
    if (typeof value !== 'string') return value;
    const isText = key === 'description' || key === 'title' || key === '$comment';
    return isText ? cleanLine(removeInvisible(value).text, limits.schemaTextChars) : value;
  };
  const cleaned = clean('', schema);
  return isRecord(cleaned) ? cleaned : {};
}

/**
 * Decides what a tool brings. Without the operator's word it is everything: the server may read what strangers wrote, know
 * what only the user has, and tell others. Only a closed world that a trusted server states spares it.
 */
function bringsOf(
  { trusted, brings }: Pick<McpServer, 'trusted' | 'brings'>,
  hints: Readonly<Record<string, unknown>>,
): readonly ToolProperty[] {
  if (brings !== null) return brings;
  const isClosed = trusted && hints['openWorldHint'] === false;
  return isClosed ? ['private_data'] : ['untrusted_text', 'private_data', 'acts_outside'];
}
