import {
  McpUnavailable,
  type ListedTools,
  type McpAnswer,
  type McpCall,
  type McpServer,
  type McpServers,
} from '../../ports/mcp-servers.ts';
import type { Connection } from './connection.ts';
import { untilAborted } from '../../attempt/until-aborted.ts';

interface OpenOptions {
  /** Milliseconds after which an unused connection is closed. Default 2 minutes. */
  readonly idleMs?: number;
  /** Most connections at the same time: a server takes 70 MB. Default 32. */
  readonly connectionsMax?: number;
}

/** Connection of a run to a server. */
interface Slot {
  readonly opened: Promise<Connection>;
  /** Null until it is open. */
  state: Connection | 'failed' | null;
  calls: number;
  idle: NodeJS.Timeout | undefined;
}

/** Creates the connections of a worker. None is opened before it is needed, and the SDK is not loaded before. */
export function openMcpServers(
  servers: ReadonlyMap<string, McpServer>,
  { idleMs = 120_000, connectionsMax = 32 }: OpenOptions = {},
): McpServers {
  return new Pool(servers, idleMs, connectionsMax);
}

class Pool implements McpServers {
  readonly servers: ReadonlyMap<string, McpServer>;
  readonly #idleMs: number;
  readonly #connectionsMax: number;
  readonly #slots = new Map<string, Slot>();
  /** Stuck ones with calls at work. */
  readonly #leaving = new Set<Slot>();
  readonly #closing = new Set<Promise<void>>();
  #isClosed = false;

  constructor(servers: ReadonlyMap<string, McpServer>, idleMs: number, connectionsMax: number) {
    this.servers = servers;
    this.#idleMs = idleMs;
    this.#connectionsMax = connectionsMax;
  }

  async list(name: string): Promise<ListedTools> {
    const connection = await this.#connect(name);
    this.#end(connection);
    return connection.listed;
  }

  async call({ run_id, ...call }: McpCall): Promise<McpAnswer> {
    const key = JSON.stringify([run_id, call.pin.server]);
    // A connection may have been lost since its last call; a new one shows whether the server is there.
    for (let attempt = 1; ; attempt += 1) {
      const slot = this.#slotOf(key, call.pin.server);
      slot.calls += 1;
      clearTimeout(slot.idle);
      try {
        // oxlint-disable-next-line no-await-in-loop
        const connection = await untilAborted(slot.opened, call.signal);
        // oxlint-disable-next-line no-await-in-loop
        return await connection.call(call);
      } catch (error) {
        if (!(error instanceof Error) || error.name !== 'ConnectionLost') throw error;
        if (attempt === 2) {
          throw new McpUnavailable(
            `the MCP server "${call.pin.server}" does not take calls. Cure: planwave mcp check`,
          );
        }
      } finally {
        slot.calls -= 1;
        this.#settle(key, slot);
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const [key, slot] of this.#slots) this.#drop(key, slot);
    for (const slot of this.#leaving) this.#leave(slot);
    await Promise.all(this.#closing);
  }

  async #connect(name: string): Promise<Connection> {
    const server = this.servers.get(name);
    if (server === undefined || this.#isClosed) {
      throw new McpUnavailable(
        `this worker has no MCP server "${name}". Cure: name its file in PLANWAVE_MCP`,
      );
    }
    const { Connection: Opened } = await import('./connection.ts');
    const connection = await Opened.open(server);
    if (!this.#isClosed) return connection;
    this.#end(connection);
    throw new McpUnavailable('the worker is being stopped');
  }

  #slotOf(key: string, server: string): Slot {
    const known = this.#slots.get(key);
    if (known !== undefined) return known;
    this.#makeRoom();
    const slot: Slot = { opened: this.#connect(server), state: null, calls: 0, idle: undefined };
    // A failure is reported by each call that waits for it.
    void this.#note(slot);
    this.#slots.set(key, slot);
    return slot;
  }

  async #note(slot: Slot): Promise<void> {
    try {
      slot.state = await slot.opened;
    } catch {
      slot.state = 'failed';
    }
  }

  /** Closes the connection that has been unused for longest, when there are too many. */
  #makeRoom(): void {
    if (this.#slots.size < this.#connectionsMax) return;
    const unused = [...this.#slots].find(([, slot]) => slot.calls === 0);
    if (unused === undefined) {
      throw new McpUnavailable(
        `this worker has ${this.#connectionsMax} connections to MCP servers, and all are in use. Try: again later`,
      );
    }
    this.#drop(...unused);
  }

  /** Keeps a connection for the next call, for some time, unless it is lost. */
  #settle(key: string, slot: Slot): void {
    if (this.#leaving.has(slot) && slot.calls === 0) return this.#leave(slot);
    if (this.#slots.get(key) !== slot) return;
    // Other calls notice that it is lost by themselves.
    if (isLost(slot) || isStuck(slot)) return this.#drop(key, slot);
    if (slot.calls > 0) return;
    // To the end: the first is the one that was used longest ago.
    this.#slots.delete(key);
    this.#slots.set(key, slot);
    clearTimeout(slot.idle);
    slot.idle = setTimeout(() => this.#drop(key, slot), this.#idleMs);
    slot.idle.unref();
  }

  #drop(key: string, slot: Slot): void {
    clearTimeout(slot.idle);
    if (this.#slots.get(key) === slot) this.#slots.delete(key);
    if (isStuck(slot) && !isLost(slot) && slot.calls > 0) this.#leaving.add(slot);
    else this.#leave(slot);
  }

  #leave(slot: Slot): void {
    this.#leaving.delete(slot);
    this.#track(
      slot.opened.then(
        (connection) => connection.close(),
        () => {},
      ),
    );
  }

  #end(connection: Connection): void {
    this.#track(connection.close());
  }

  #track(ended: Promise<void>): void {
    const closing = ended.finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }
}

/** Returns true when no call of the connection can end well any more. */
function isLost({ state }: Slot): boolean {
  return state === 'failed' || state?.isClosed === true;
}

function isStuck({ state }: Slot): boolean {
  return state !== null && state !== 'failed' && state.isStuck;
}
