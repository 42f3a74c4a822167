import { createHash } from 'node:crypto';
import type { JsonObject } from '../json.ts';
import { isObject } from '../json.ts';
import type { Block, MessagesRequest, ReplyUsage } from '../messages-api.ts';

/** A rule of thumb of the provider: a token is about four bytes. */
const bytesPerToken = 4;

/** The API looks this many blocks back from a breakpoint for a prefix that an earlier call cached. */
const lookBackBlocks = 20;

/** Oldest prefixes are forgotten beyond this, so that a server that runs for weeks stays small. */
const prefixesMax = 100_000;

/** Tokens of a text, from its bytes in UTF-8. */
export function countTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / bytesPerToken);
}

/** Output tokens of a reply; at least 1, because even an empty reply is billed. */
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

/** Every prefix of a prompt. The model and the output schema belong to all of them: a change of either misses. */
function prefixesOf(request: MessagesRequest): readonly Prefix[] {
  const hash = createHash('sha256').update(`${request.model}\n${JSON.stringify(request.schema)}`);
  let tokens = request.schema === null ? 0 : countTokens(JSON.stringify(request.schema));
  return partsOf(request).map((part) => {
    hash.update(`\n${part.text}`);
    tokens += countTokens(part.text);
    return { hash: hash.copy().digest('base64'), tokens, cacheControl: part.cacheControl };
  });
}

/** Input tokens of a request, cached or not. */
export function countInputTokens(request: MessagesRequest): number {
  return prefixesOf(request).at(-1)?.tokens ?? 0;
}

/** Written tokens go to the lifetime that the last breakpoint asks for: five minutes, or an hour. */
function splitByLifetime(written: number, cacheControl: unknown): ReplyUsage['cache_creation'] {
  const isHour = isObject(cacheControl) && cacheControl['ttl'] === '1h';
  return {
    ephemeral_5m_input_tokens: isHour ? 0 : written,
    ephemeral_1h_input_tokens: isHour ? written : 0,
  };
}

export interface PromptCache {
  /** Counts a request's input and remembers the prefixes that its `cache_control` blocks end. */
  account(request: MessagesRequest): Omit<ReplyUsage, 'output_tokens'>;
  clear(): void;
}

/**
 * Counts like the API's prompt cache, without its minimum length and its expiry, so that counts depend on the calls
 * alone: the longest prefix seen before is read, the rest up to the last breakpoint is written, what follows is input.
 */
export function createPromptCache(): PromptCache {
  const seen = new Set<string>();

  const remember = (hash: string): void => {
    seen.delete(hash);
    seen.add(hash);
    const [oldest] = seen;
    if (seen.size > prefixesMax && oldest !== undefined) seen.delete(oldest);
  };

  const countRead = (prefixes: readonly Prefix[], breakpoints: readonly number[]): number => {
    const near = (place: number): boolean =>
      breakpoints.some((end) => place <= end && place > end - lookBackBlocks);
    return Math.max(
      0,
      ...prefixes
        .filter((prefix, place) => near(place) && seen.has(prefix.hash))
        .map((prefix) => prefix.tokens),
    );
  };

  return {
    account: (request) => {
      const prefixes = prefixesOf(request);
      const breakpoints = prefixes.flatMap((prefix, place) =>
        isObject(prefix.cacheControl) ? [place] : [],
      );
      const total = prefixes.at(-1)?.tokens ?? 0;
      const last = prefixes[breakpoints.at(-1) ?? -1];
      const read = countRead(prefixes, breakpoints);
      const written = (last?.tokens ?? 0) - read;
      for (const place of breakpoints) remember(prefixes[place]?.hash ?? '');
      return {
        input_tokens: total - read - written,
        cache_creation_input_tokens: written,
        cache_read_input_tokens: read,
        cache_creation: splitByLifetime(written, last?.cacheControl),
      };
    },
    clear: () => seen.clear(),
  };
}
