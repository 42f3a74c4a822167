import {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client';
import { isRecord } from '../../../core/json.ts';
import {
  McpRefused,
  McpUnavailable,
  type ListedTools,
  type McpAnswer,
  type McpCall,
  type McpServer,
} from '../../ports/mcp-servers.ts';
import { pinTools } from '../../tools/mcp/pin-tools.ts';
import { callTool, listTools, pagesMax } from './requests.ts';
import {
  createLimitedFetch,
  faultCharsMax,
  shortenLine,
  StdioTransport,
} from './stdio-transport.ts';
import { cleanLine } from '../../../core/text/cut-text.ts';
import { messageOf } from '../../../core/text/message-of.ts';

/** Milliseconds for a connect, and for a list of tools. */
const connectMs = 15_000;

/** Milliseconds of one call, with all the progress that is reported. */
const callMsMax = 600_000;

/**
 * Most characters of a server's error that are handed on: many more than are shown, because it is cut again once it is
 * redacted, and half a secret is not known for one.
 */
const saidCharsMax = 100_000;

/** Codes of JSON-RPC, and of the protocol for wrong headers, for requests that were not carried out. */
const refusedCodes = new Set([-32_600, -32_601, -32_602, -32_020]);

/** The connection was lost before a call was sent: it can be made on another one. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

interface Line {
  readonly transport: Transport;
  /** Says in one line why the transport failed and what its server said; the given words while it has not failed. */
  readonly explain: (otherwise: string) => string;
}

/**
 * Connection to a server, with its newest list of tools. Declares no capabilities: a server can't ask for a model, for
 * folders or for a person.
 */
export class Connection {
  readonly #server: McpServer;
  readonly #client: Client;
  readonly #line: Line;
  readonly #broken = new AbortController();
  #listed: ListedTools = { tools: [], leftOut: [] };
  #isStale = true;
  /** The list that is being read; null when there is none. */
  #listing: Promise<void> | null = null;
  #isClosed = false;
  #isStuck = false;

  private constructor(server: McpServer) {
    this.#server = server;
    this.#client = new Client(
      { name: 'planwave', version: '1' },
      {
        capabilities: {},
        listMaxPages: pagesMax,
        versionNegotiation: { mode: server.transport.type === 'http' ? 'auto' : 'legacy' },
        listChanged: {
          tools: {
            autoRefresh: false,
            // The next call must know at once.
            debounceMs: 0,
            onChanged: () => {
              this.#isStale = true;
            },
          },
        },
      },
    );
    this.#line = this.#createLine();
    // The client has no listeners.
    // oxlint-disable-next-line prefer-add-event-listener
    this.#client.onclose = () => {
      this.#isClosed = true;
    };
    // Reported by the calls that it concerns.
    // oxlint-disable-next-line prefer-add-event-listener
    this.#client.onerror = () => {};
  }

  /** Connects and lists the tools. @throws {McpUnavailable} */
  static async open(server: McpServer): Promise<Connection> {
    const connection = new Connection(server);
    try {
      const timeout = Math.min(connectMs, server.timeoutMs);
      await connection.#client.connect(connection.#line.transport, {
        timeout,
        maxTotalTimeout: timeout,
        signal: connection.#broken.signal,
      });
      await connection.#list();
      return connection;
    } catch (error) {
      // Closing ends the server, which would be the explanation.
      const reason = connection.#explain('does not start', error);
      await connection.close();
      throw new McpUnavailable(reason);
    }
  }

  get listed(): ListedTools {
    return this.#listed;
  }

  /** True when no call can be made any more. */
  get isClosed(): boolean {
    return this.#isClosed || this.#broken.signal.aborted;
  }

  /** True when a call or the list of tools has failed: calls that it has may end, and others need a new one. */
  get isStuck(): boolean {
    return this.#isStuck;
  }

  /** Makes a call. @throws {ConnectionLost} besides what `McpServers.call` throws. */
  async call({ pin, input, signal, onProgress }: Omit<McpCall, 'run_id'>): Promise<McpAnswer> {
    if (this.isClosed || this.#isStuck) throw new ConnectionLost();
    await this.#refresh().catch(() => {
      this.#isStuck = true;
      throw new ConnectionLost();
    });
    this.#checkPin(pin);
    signal.throwIfAborted();
    try {
      return await callTool(
        this.#client,
        { pin, input },
        {
          signal: AbortSignal.any([signal, this.#broken.signal]),
          timeout: this.#server.timeoutMs,
          resetTimeoutOnProgress: true,
          maxTotalTimeout: callMsMax,
          onprogress: ({ progress, total, message }) => {
            const share = total === undefined ? `${progress}` : `${progress}/${total}`;
            onProgress(shortenLine(`${share} ${message ?? ''}`, 200));
          },
        },
      );
    } catch (error) {
      throw this.#judge(error, signal);
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const { transport } = this.#line;
    if (transport instanceof StreamableHTTPClientTransport) {
      // Tells the server that the session is over; some do not know the request.
      await within(endSessionMs, transport.terminateSession()).catch(() => {});
    }
    await this.#client.close().catch(() => {});
    // A client that never connected does not close its transport.
    await transport.close().catch(() => {});
  }

  /**
   * Waits for the list that is being read, or reads it when it is stale. Calls at the same time wait for one list; if the
   * server changes its tools meanwhile, for one more.
   */
  async #refresh(): Promise<void> {
    for (let lists = 0; lists < 2 && (this.#isStale || this.#listing !== null); lists += 1) {
      this.#listing ??= this.#list().finally(() => {
        this.#listing = null;
      });
      // oxlint-disable-next-line no-await-in-loop
      await this.#listing;
    }
  }

  async #list(): Promise<void> {
    this.#isStale = false;
    try {
      const timeout = Math.min(connectMs, this.#server.timeoutMs);
      const options = {
        timeout,
        signal: AbortSignal.any([this.#broken.signal, AbortSignal.timeout(timeout)]),
      };
      const { tools, faults } = await listTools(this.#client, options);
      this.#listed = pinTools(this.#server, tools, faults);
    } catch (error) {
      this.#isStale = true;
      throw error;
    }
  }

  #checkPin(pin: McpCall['pin']): void {
    const now = this.#listed.tools.find(({ name }) => name === pin.name);
    if (now?.hash === pin.hash && now.effect === pin.effect) return;
    const what = now === undefined ? 'no longer has the tool' : 'has changed the tool';
    throw new McpUnavailable(
      `the MCP server "${pin.server}" ${what} "${pin.tool}" since this run began, so the call was refused. ` +
        'Try: go on without it and say so. A person can look at it with planwave mcp check; a new run takes it as it is now.',
    );
  }

  /** Says of an error what it means for the call. */
  #judge(error: unknown, signal: AbortSignal): unknown {
    // A timeout and an abort have the same code.
    if (signal.aborted) return signal.reason;
    if (error instanceof ProtocolError && refusedCodes.has(error.code)) {
      return new McpRefused(
        `the server refused the call: ${cleanLine(error.message, saidCharsMax)}`,
      );
    }
    if (error instanceof ProtocolError) {
      return new Error(`the server reports an error: ${cleanLine(error.message, saidCharsMax)}`);
    }
    // Other calls at work may still end well: each has its own limit of time.
    this.#isStuck = true;
    if (wasNotSent(error)) return new ConnectionLost();
    return new Error(this.#explain(describeEnd(error), error));
  }

  #explain(what: string, error: unknown): string {
    const { name, transport } = this.#server;
    const why = this.#line.explain(messageOf(error));
    return `the MCP server "${name}" ${what}: ${why}. Cure: ${cureOf(transport.type, error)}`;
  }

  #createLine(): Line {
    const { transport } = this.#server;
    if (transport.type === 'stdio') {
      const stdio = new StdioTransport(transport);
      return { transport: stdio, explain: (otherwise) => stdio.explain(otherwise) };
    }
    let fault: string | null = null;
    const fetch = createLimitedFetch((reason) => {
      fault = reason;
      this.#broken.abort();
    });
    const { url, headers } = transport;
    const http = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: { ...headers } },
      fetch,
    });
    return {
      transport: http,
      explain: (otherwise) => shortenLine(fault ?? otherwise, faultCharsMax),
    };
  }
}

const endSessionMs = 1_000;

async function within(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}

/** Says how a call ended that the server neither made nor refused for certain. */
function describeEnd(error: unknown): string {
  const code = error instanceof SdkError ? error.code : null;
  if (code === SdkErrorCode.RequestTimeout) return 'did not answer in time';
  if (code === SdkErrorCode.InvalidResult) return 'gave an answer that can not be read';
  return 'ended or failed during the call';
}

/** Returns true when the server has certainly not begun the call. */
function wasNotSent(error: unknown): boolean {
  if (error instanceof SdkError && error.code === SdkErrorCode.NotConnected) return true;
  // It does not know the session, because it was restarted.
  if (error instanceof SdkHttpError) return error.status === 400 || error.status === 404;
  const causes = [error, error instanceof Error ? error.cause : undefined];
  return causes.some((one) => isRecord(one) && one['code'] === 'ECONNREFUSED');
}

function cureOf(type: McpServer['transport']['type'], error: unknown): string {
  if (error instanceof SdkHttpError && (error.status === 401 || error.status === 403)) {
    return 'give it a valid token in "headers" of its entry';
  }
  return type === 'stdio'
    ? 'run its command by hand, then planwave mcp check'
    : 'look whether it runs and its url is right, then planwave mcp check';
}
