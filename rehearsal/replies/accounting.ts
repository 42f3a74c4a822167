import { createHash } from 'node:crypto';
import {
  type Block,
  type MessagesRequest,
  type ReplyUsage,
  isObject,
  type JsonObject,
} from '../messages-api.ts';

/** The provider's rule of thumb: a token has about four bytes. */
const bytesPerToken = 4;

/** Most blocks that the API looks back from a breakpoint for a cached prefix. */
const lookBackBlocks = 20;

/** Least tokens of a prefix that is cached; most models of the API require this. */
const prefixTokensMin = 1_024;

const lifeMsUsual = 5 * 60_000;
const lifeMsLong = 60 * 60_000;

/** Most prefixes that are remembered; the oldest are dropped, so that a server that runs for weeks stays small. */
const prefixesMax = 100_000;

/** Counts the tokens of a text by its UTF-8 bytes. */
export function countTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

/** Counts the output tokens of a reply; at least 1, because even an empty reply is billed. */
export function countOutputTokens(content: readonly Block[]): number {
  const texts = content.map((block) => {
    if (block.type === 'text') return String(block['text']);
    return block.type === 'tool_use' ? JSON.stringify(block['input'] ?? {}) : JSON.stringify(block);
  });
  return Math.max(1, countTokens(texts.join('')));
}

/** One part of a prompt in the order in which the API reads it: tools, system, messages. */
interface Part {
  readonly text: string;
  readonly cacheControl: unknown;
}

function partOf(kind: string, block: JsonObject): Part {
  const { cache_control: cacheControl, ...rest } = block;
  return { text: `${kind}:${JSON.stringify(rest)}`, cacheControl };
}

function partsOf(request: MessagesRequest): readonly Part[] {
  const parts = [
    ...request.tools.map((tool) => partOf('tool', tool)),
    ...request.system.map((block) => partOf('system', block)),
    ...request.messages.flatMap((message) =>
      message.blocks.map((block) => partOf(message.role, block)),
    ),
  ];
  const automatic = request.body['cache_control'];
  const last = parts.at(-1);
  if (!isObject(automatic) || last === undefined) return parts;
  return [...parts.slice(0, -1), { ...last, cacheControl: automatic }];
}

/** A prompt up to and including one of its parts. */
interface Prefix {
  readonly hash: string;
  readonly tokens: number;
  readonly cacheControl: unknown;
}

/**
 * Returns every prefix of a prompt. The model and the output schema belong to all of them: a change of either misses.
 */
function prefixesOf(request: MessagesRequest): readonly Prefix[] {
  const hash = createHash('sha256').update(`${request.model}\n${JSON.stringify(request.schema)}`);
  let tokens = request.schema === null ? 0 : countTokens(JSON.stringify(request.schema));
  return partsOf(request).map((part) => {
    hash.update(`\n${part.text}`);
    tokens += countTokens(part.text);
    return { hash: hash.copy().digest('base64'), tokens, cacheControl: part.cacheControl };
  });
}

/** Counts the input tokens of a request, cached or not. */
export function countInputTokens(request: MessagesRequest): number {
  return prefixesOf(request).at(-1)?.tokens ?? 0;
}

function isHourly(cacheControl: unknown): boolean {
  return isObject(cacheControl) && cacheControl['ttl'] === '1h';
}

/** Assigns written tokens to the lifetime that the last breakpoint asks for: five minutes, or an hour. */
function splitByLifetime(written: number, cacheControl: unknown): ReplyUsage['cache_creation'] {
  const isHour = isHourly(cacheControl);
  return {
    ephemeral_5m_input_tokens: isHour ? 0 : written,
    ephemeral_1h_input_tokens: isHour ? written : 0,
  };
}

/** Accounting of a request's input. */
export interface Accounted {
  readonly usage: Omit<ReplyUsage, 'output_tokens'>;
  /** Must be called when the reply begins: only from then on can other calls read the prefixes of this one. */
  readonly begin: () => void;
}

export interface PromptCache {
  account(request: MessagesRequest): Accounted;
  clear(): void;
}

interface Entry {
  readonly lifeMs: number;
  readonly expiresAtMs: number;
}

/**
 * Counts like the API's prompt cache. Each `cache_control` block ends a cached prefix; the longest one found is read,
 * the rest up to the last breakpoint is written, and everything after it is input. A prefix can be read as soon as the
 * reply of the call that wrote it begins, for five minutes (or an hour) after its last reading. Prefixes below 1,024
 * tokens are not kept.
 *
 * @param now Unix epoch milliseconds. Default: the machine's clock.
 */
export function createPromptCache(now: () => number = Date.now): PromptCache {
  const entries = new Map<string, Entry>();

  const remember = (hash: string, lifeMs: number): void => {
    entries.delete(hash);
    entries.set(hash, { lifeMs, expiresAtMs: now() + lifeMs });
    const [oldest] = entries.keys();
    if (entries.size > prefixesMax && oldest !== undefined) entries.delete(oldest);
  };

  const isKept = ({ hash }: Prefix): boolean => (entries.get(hash)?.expiresAtMs ?? 0) > now();

  const findRead = (prefixes: readonly Prefix[], breakpoints: readonly number[]) => {
    const isNear = (place: number): boolean =>
      breakpoints.some((end) => place <= end && place > end - lookBackBlocks);
    return prefixes.findLast((prefix, place) => isNear(place) && isKept(prefix));
  };

  return {
    account: (request) => {
      const prefixes = prefixesOf(request);
      const breakpoints = prefixes.flatMap((prefix, place) =>
        isObject(prefix.cacheControl) && prefix.tokens >= prefixTokensMin ? [place] : [],
      );
      const ends = breakpoints.flatMap((place) => prefixes[place] ?? []);
      const total = prefixes.at(-1)?.tokens ?? 0;
      const found = findRead(prefixes, breakpoints);
      if (found !== undefined) remember(found.hash, entries.get(found.hash)?.lifeMs ?? lifeMsUsual);
      const read = found?.tokens ?? 0;
      const written = Math.max(0, (ends.at(-1)?.tokens ?? 0) - read);
      return {
        usage: {
          input_tokens: total - read - written,
          cache_creation_input_tokens: written,
          cache_read_input_tokens: read,
          cache_creation: splitByLifetime(written, ends.at(-1)?.cacheControl),
        },
        begin: () => {
          for (const { hash, cacheControl } of ends)
            remember(hash, isHourly(cacheControl) ? lifeMsLong : lifeMsUsual);
        },
      };
    },
    clear: () => entries.clear(),
  };
}
