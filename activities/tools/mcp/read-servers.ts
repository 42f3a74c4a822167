import { parseJson } from '../../../core/json.ts';
import { z } from 'zod';
import type { McpServer } from '../../ports/mcp-servers.ts';

/** Milliseconds of silence after which a call is given up. */
const timeoutMs = { min: 1_000, max: 600_000, default: 60_000 };

const serversMax = 50;

const strings = z.record(z.string(), z.string());
const paths = z
  .array(z.string().startsWith('/', 'expected an absolute path. Try: /srv/notes'))
  .default([]);

/** Settings of planwave, which other programs ignore. */
const Own = z.strictObject(
  {
    trusted: z.boolean().default(false),
    brings: z.array(z.enum(['untrusted_text', 'private_data', 'acts_outside'])).optional(),
    approval: z.enum(['never', 'by_risk', 'always']).default('by_risk'),
    sandbox: z
      .union([
        z.boolean(),
        z.strictObject({ network: z.boolean().default(false), read: paths, write: paths }),
      ])
      .default(false),
  },
  'expected {"trusted", "brings", "approval", "sandbox"}. Try: "planwave": {"trusted": true}',
);

const Entry = z.looseObject({
  type: z
    .enum(
      ['stdio', 'http', 'streamable-http'],
      'expected "stdio" or "http". Try: "http" instead of "sse", which is obsolete',
    )
    .default('stdio'),
  command: z.string().min(1).optional(),
  args: z.array(z.string()).default([]),
  env: strings.default({}),
  url: z.string().optional(),
  headers: strings.default({}),
  timeout: z
    .number()
    .int()
    .min(timeoutMs.min, `expected milliseconds, at least ${timeoutMs.min}`)
    .max(timeoutMs.max, `expected milliseconds, at most ${timeoutMs.max}`)
    .default(timeoutMs.default),
  planwave: Own.prefault({}),
});
type Entry = z.infer<typeof Entry>;

const File = z.looseObject({
  mcpServers: z.record(z.string(), z.unknown(), 'expected {"mcpServers": {"<name>": {…}}}'),
});

/** Servers of a file, or everything that is wrong with it. */
export type ReadServers =
  | { readonly ok: true; readonly servers: readonly McpServer[] }
  | { readonly ok: false; readonly faults: readonly string[] };

/**
 * Reads a file of servers in the format that other clients of the protocol use (`.mcp.json`). No fault holds a value: it
 * may be a secret.
 *
 * @param env Variables that `${VAR}` and `${VAR:-default}` may name.
 */
export function readServers(
  file: string,
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): ReadServers {
  const json = parseJson(text);
  if (json === undefined) {
    return { ok: false, faults: ['expected JSON. Try: {"mcpServers": {}}'] };
  }
  const parsed = File.safeParse(json);
  if (!parsed.success) return { ok: false, faults: describe('', parsed.error) };
  const entries = Object.entries(parsed.data.mcpServers);
  if (entries.length > serversMax) {
    return { ok: false, faults: [`expected at most ${serversMax} servers`] };
  }
  const read = entries.map(([name, entry]) => readServer(file, name, entry, env));
  const faults = read.flatMap((one) => ('faults' in one ? one.faults : []));
  if (faults.length > 0) return { ok: false, faults };
  return { ok: true, servers: read.flatMap((one) => ('faults' in one ? [] : [one])) };
}

/** Tells whether a name can stand between two `__`: names of tools must show which server they are from. */
export function isServerName(name: string): boolean {
  return (
    /^[A-Za-z0-9][A-Za-z0-9_-]{0,29}$/.test(name) && !name.includes('__') && !name.endsWith('_')
  );
}

function readServer(
  file: string,
  name: string,
  entry: unknown,
  env: Readonly<Record<string, string | undefined>>,
): McpServer | { readonly faults: readonly string[] } {
  const where = `mcpServers.${name.slice(0, 60)}`;
  if (!isServerName(name)) {
    const expected =
      'expected a name of 1 to 30 letters, digits, "-" or "_", without "__" and no "_" at its ends';
    return { faults: [`${where}: ${expected}`] };
  }
  const parsed = Entry.safeParse(entry);
  if (!parsed.success) return { faults: describe(where, parsed.error) };
  const { timeout, planwave } = parsed.data;
  const missing = new Set<string>();
  const fill = (text: string): string => fillVariables(text, env, missing);
  const transport = readTransport(parsed.data, fill);
  if (typeof transport === 'string') return { faults: [`${where}: ${transport}`] };
  if (missing.size > 0) {
    const lacks = [...missing].map(
      (variable) =>
        `${where}: the variable ${variable} is not set. Try: set it for the worker, or write \${${variable}:-default}`,
    );
    return { faults: lacks };
  }
  const { trusted, brings = null, approval } = planwave;
  return { name, file, transport, timeoutMs: timeout, trusted, brings, approval };
}

function readTransport(
  { type, command, args, env, url, headers, planwave }: Entry,
  fill: (text: string) => string,
): McpServer['transport'] | string {
  const fillAll = (all: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(all).map(([key, value]) => [key, fill(value)]));
  if (type === 'stdio') {
    if (command === undefined) {
      return url === undefined
        ? 'expected a command. Try: "command": "npx"'
        : 'it has a url and no type. Try: "type": "http"';
    }
    const { sandbox } = planwave;
    return {
      type,
      command: fill(command),
      args: args.map(fill),
      env: fillAll(env),
      sandbox: sandbox === true ? { network: false, read: [], write: [] } : sandbox || null,
    };
  }
  if (url === undefined) return 'expected a url. Try: "url": "https://…"';
  if (planwave.sandbox !== false) return 'a sandbox needs a server that is started by a command';
  const filled = fill(url);
  // A variable that is missing is reported instead.
  if (!filled.includes('${') && !isHttp(filled)) {
    return 'expected a url that begins with http:// or https:// and holds no password';
  }
  const badHeader = Object.entries(headers).find(
    ([key, value]) => !/^[\w!#$%&'*+.^`|~-]+$/.test(key) || /[\r\n\0]/.test(fill(value)),
  );
  if (badHeader !== undefined) return `the header ${badHeader[0].slice(0, 60)} can't be sent`;
  return { type: 'http', url: filled, headers: fillAll(headers) };
}

function isHttp(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, username, password } = new URL(url);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

/** Replaces `${VAR}` and `${VAR:-default}`; a default has no braces. Names that have neither a value nor a default are added to `missing`. */
function fillVariables(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
  missing: Set<string>,
): string {
  return text.replaceAll(
    /\$\{([A-Za-z_]\w*)(?::-([^{}]*))?\}/g,
    (whole, name: string, otherwise?: string) => {
      const value = env[name] === '' ? undefined : env[name];
      if (value === undefined && otherwise === undefined) missing.add(name);
      return value ?? otherwise ?? whole;
    },
  );
}

function describe(where: string, error: z.ZodError): string[] {
  return error.issues.map(({ path, message }) => {
    const place = [where, ...path.map(String)].filter((part) => part !== '').join('.');
    return place === '' ? message : `${place}: ${message}`;
  });
}
