import type { ModelRequest } from '../ports/model-client.ts';
import { countBytes, hashBytes } from '../text/bytes.ts';

/**
 * Minimum size in bytes of a wave's own part that is worth waiting for: 2,000 tokens, a cent for five siblings on a
 * large model. Rules and tools before it don't count: they are the same in every wave and mostly in the cache already.
 */
const sharedBytesMin = 8_000;

/** Longest wait in milliseconds. A reply begins within seconds; a call that hangs longer must not delay a wave. */
const waitMsDefault = 10_000;

/** Time for which the provider keeps a prefix that no call reads, in milliseconds. */
const cacheLifeMs = 5 * 60_000;

/** Number of prefixes that are remembered. Each is a hash, and a worker has far fewer waves at once. */
const prefixesMax = 1_000;

/**
 * Passage of a call through the gate. The call reports its progress; both methods may be called at any time and more
 * than once.
 */
export interface Passage {
  /** Reports that the reply has begun: from here on the provider can read the prefix from its cache. */
  begun(): void;
  /** Reports that the call is over, however it ended. */
  ended(): void;
}

interface Prefix {
  /** Null while the first call is in flight. */
  warmUntilMs: number | null;
  /** The calls that wait for the first one. */
  readonly waiting: Set<() => void>;
}

export interface PrefixGateOptions {
  /** Longest wait in milliseconds. Default 10,000. */
  readonly waitMs?: number;
  /** Reads a clock in milliseconds. Default: this process's. */
  readonly now?: () => number;
}

/**
 * Lets the first call of a wave go out before its siblings, so that they read from the provider's cache what it wrote.
 *
 * PG1. Of the calls with one prefix that came within `waitMs`, one is at the provider until its reply begins. When it
 *      ends before that, the next one goes.
 * PG2. No call waits longer than `waitMs`, nor when its signal is aborted. Waiting never fails.
 * PG3. A prefix whose reply began is open to all for as long as the provider keeps it.
 * PG4. It remembers a bounded number of prefixes.
 *
 * One for each worker process. Calls of a wave on several workers don't know of each other: each worker's first one
 * writes the prefix.
 */
export class PrefixGate {
  readonly #waitMs: number;
  readonly #now: () => number;
  readonly #prefixes = new Map<string, Prefix>();

  constructor(options: PrefixGateOptions = {}) {
    this.#waitMs = options.waitMs ?? waitMsDefault;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Number of prefixes that are remembered. */
  get size(): number {
    return this.#prefixes.size;
  }

  /** @param key from `findSharedPrefix`; null passes at once. */
  async enter(key: string | null, signal: AbortSignal): Promise<Passage> {
    if (key === null) return { begun: () => {}, ended: () => {} };
    let deadline: AbortSignal | null = null;
    for (;;) {
      const prefix = this.#prefixes.get(key);
      if (prefix === undefined || isCold(prefix, this.#now())) return this.#lead(key);
      deadline ??= AbortSignal.any([signal, AbortSignal.timeout(this.#waitMs)]);
      if (prefix.warmUntilMs !== null || deadline.aborted) return this.#follow(key, prefix);
      // Each woken call looks again: the first call may have failed, and then one of them is the first.
      // oxlint-disable-next-line no-await-in-loop
      await waitFor(prefix, deadline);
    }
  }

  #lead(key: string): Passage {
    const prefix: Prefix = { warmUntilMs: null, waiting: new Set() };
    this.#keep(key, prefix);
    return {
      ...this.#follow(key, prefix),
      ended: () => {
        const isMine = this.#prefixes.get(key) === prefix;
        if (isMine && prefix.warmUntilMs === null) this.#prefixes.delete(key);
        wake(prefix);
      },
    };
  }

  /** Follows a call. Whichever call's reply begins, the provider has the prefix from then on. */
  #follow(key: string, prefix: Prefix): Passage {
    return {
      begun: () => {
        prefix.warmUntilMs = this.#now() + cacheLifeMs;
        if (!this.#prefixes.has(key)) this.#keep(key, prefix);
        wake(prefix);
      },
      ended: () => {},
    };
  }

  #keep(key: string, prefix: Prefix): void {
    this.#prefixes.delete(key);
    this.#prefixes.set(key, prefix);
    const [oldest] = this.#prefixes.keys();
    // Calls that wait for it are released by its first call or by the clock.
    if (this.#prefixes.size > prefixesMax && oldest !== undefined) this.#prefixes.delete(oldest);
  }
}

function isCold({ warmUntilMs }: Prefix, nowMs: number): boolean {
  return warmUntilMs !== null && warmUntilMs < nowMs;
}

function wake({ waiting }: Prefix): void {
  for (const go of waiting) go();
}

/** Resolves when the first call's reply has begun, when that call is over, or when the signal is aborted. */
function waitFor({ waiting }: Prefix, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      waiting.delete(go);
      signal.removeEventListener('abort', go);
      resolve();
    };
    waiting.add(go);
    signal.addEventListener('abort', go);
    if (signal.aborted) go();
  });
}

/**
 * Identifies what the calls of a wave have in common, up to the end of the wave's part: model, tools, output and rules
 * included, because a change in any of these gives another prefix.
 *
 * @returns null when the request has no such part, or one that is too short to wait for.
 */
export function findSharedPrefix(request: ModelRequest, shape: string): string | null {
  const first = request.messages[0]?.content[0];
  if (first?.type !== 'text' || first.cache_breakpoint !== true) return null;
  if (countBytes(first.text) < sharedBytesMin) return null;
  const { model, system, tools } = request;
  const prefix = { model, shape, tools: tools.map((tool) => tool.name), system, text: first.text };
  return hashBytes(JSON.stringify(prefix));
}
