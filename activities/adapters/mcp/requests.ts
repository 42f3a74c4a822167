import { isDeepStrictEqual } from 'node:util';
import {
  isJSONRPCResultResponse,
  specTypeSchemas,
  type Client,
  type JSONRPCMessage,
  type RequestOptions,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { isRecord } from '../../../core/json.ts';
import type { McpAnswer, McpCall } from '../../ports/mcp-servers.ts';

/** Pages of a list of tools that are read. */
export const pagesMax = 20;

/** Frame of a result, whose parts are read one by one. The SDK's own schema would refuse all tools for one. */
const ListPage = z.object({ tools: z.array(z.unknown()), nextCursor: z.unknown().optional() });
type ListPage = z.infer<typeof ListPage>;
const Answer = z.object({
  content: z.unknown().optional(),
  structuredContent: z.unknown().optional(),
  isError: z.unknown().optional(),
});

interface ReadTools {
  readonly tools: readonly unknown[];
  /** Faults of tools that do not fit the protocol, by the tool. */
  readonly faults: ReadonlyMap<unknown, string>;
}

/** Lists the tools of a server. One that does not fit the protocol costs only itself, on every revision. */
export async function listTools(client: Client, options: RequestOptions): Promise<ReadTools> {
  const faults = new Map<unknown, string>();
  if (isStrict(client) || client.getServerCapabilities()?.tools === undefined) {
    const tools = await listStrictly(client, options, faults);
    return { tools: [...tools, ...faults.keys()], faults };
  }
  const listed = await readPages(client, options);
  const tools = listed.map((tool) => {
    const read = readTool(tool);
    if ('value' in read) return read.value;
    faults.set(tool, read.fault);
    return tool;
  });
  return { tools, faults };
}

function readTool(tool: unknown): { readonly value: unknown } | { readonly fault: string } {
  const read = specTypeSchemas.Tool['~standard'].validate(tool);
  if (read.issues === undefined) return { value: read.value };
  const [{ path = [], message } = { message: '' }] = read.issues;
  return { fault: `${path.map(String).join('.')}: ${message}` };
}

/**
 * Lists the tools by the SDK's own request, which reads all or nothing: the tools that do not fit are taken out of the
 * messages before the SDK sees them.
 *
 * @param faults Gets what was taken out.
 */
async function listStrictly(
  client: Client,
  options: RequestOptions,
  faults: Map<unknown, string>,
): Promise<readonly unknown[]> {
  const { transport } = client;
  const pass = transport?.onmessage;
  if (transport !== undefined && pass !== undefined) {
    // A transport has no listeners.
    // oxlint-disable-next-line prefer-add-event-listener
    transport.onmessage = (message, extra) => pass(takeOutMalformed(message, faults), extra);
  }
  try {
    const { tools } = await client.listTools(undefined, { ...options, cacheMode: 'refresh' });
    return tools;
  } finally {
    // oxlint-disable-next-line prefer-add-event-listener
    if (transport !== undefined && pass !== undefined) transport.onmessage = pass;
  }
}

function takeOutMalformed(message: JSONRPCMessage, faults: Map<unknown, string>): JSONRPCMessage {
  if (!isJSONRPCResultResponse(message)) return message;
  const { tools, content } = message.result;
  // The answer of a call has content, and may come while the list is read.
  if (!Array.isArray(tools) || content !== undefined) return message;
  const good = tools.filter((tool: unknown) => {
    const fault = findFault(tool);
    if (fault !== null) faults.set(tool, fault);
    return fault === null;
  });
  return { ...message, result: { ...message.result, tools: good } };
}

/** Returns what the newest revision would refuse; null for a tool that fits it. */
function findFault(tool: unknown): string | null {
  const read = readTool(tool);
  if ('fault' in read) return read.fault;
  const schema = isRecord(tool) ? tool['inputSchema'] : undefined;
  const dialect = isRecord(schema) ? schema['$schema'] : undefined;
  if (dialect === undefined || typeof dialect === 'string') return null;
  return 'inputSchema.$schema: it is no text';
}

async function readPages(client: Client, options: RequestOptions): Promise<unknown[]> {
  const tools: unknown[] = [];
  let last: ListPage | null = null;
  for (let pages = 0; pages < pagesMax; pages += 1) {
    const cursor: unknown = last?.nextCursor;
    const request = { method: 'tools/list', ...(last !== null && { params: { cursor } }) };
    // oxlint-disable-next-line no-await-in-loop
    const page: ListPage = await client.request(request, ListPage, options);
    // A server that knows no pages says the same each time.
    if (isDeepStrictEqual(page, last)) return tools;
    tools.push(...page.tools);
    if (typeof page.nextCursor !== 'string') return tools;
    last = page;
  }
  throw new Error(`its list of tools has more than ${pagesMax} pages`);
}

/** Calls a tool. */
export async function callTool(
  client: Client,
  { pin, input }: Pick<McpCall, 'pin' | 'input'>,
  options: RequestOptions,
): Promise<McpAnswer> {
  const params = { name: pin.tool, arguments: isRecord(input) ? input : {} };
  const { content, structuredContent, isError } = isStrict(client)
    ? await client.callTool(params, { ...options, toolDefinition: definitionOf(pin) })
    : await client.request({ method: 'tools/call', params }, Answer, options);
  return {
    content: [content ?? []].flat(),
    structured: structuredContent ?? undefined,
    isError: isError === true,
  };
}

/**
 * Returns a tool without the schema of its answers: they are data. The SDK's check of them would run patterns of the server,
 * and fail calls that have taken place as if the server had refused them.
 */
function definitionOf({ tool, schema }: McpCall['pin']) {
  return { name: tool, inputSchema: { ...schema, type: 'object' } } as const;
}

/**
 * Returns true when the SDK checks results against its own schemas, whatever is asked for: from revision 2026-07-28 on. Its
 * own requests are needed there, because they send the headers that a tool asks for.
 */
function isStrict(client: Client): boolean {
  return client.getProtocolEra() === 'modern';
}
