import { z } from 'zod';
import type { ToolProperty } from '../../contracts/agent-definition.ts';
import type { ApprovalMark } from '../../core/effects/decide-approval.ts';

/** Server of the Model Context Protocol, as the operator's file describes it. Holds secrets: it never leaves the worker. */
export interface McpServer {
  readonly name: string;
  /** File that names it. */
  readonly file: string;
  readonly transport: McpStdio | McpHttp;
  /** Longest silence during a call, in milliseconds; progress of the server prolongs it. */
  readonly timeoutMs: number;
  /** True when the operator believes what its tools say about themselves. */
  readonly trusted: boolean;
  /** Properties of all its tools. Null: decided for each tool. */
  readonly brings: readonly ToolProperty[] | null;
  readonly approval: ApprovalMark;
}

/** Server that the worker starts as a process. */
export interface McpStdio {
  readonly type: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  /** Variables besides the few that every program needs. */
  readonly env: Readonly<Record<string, string>>;
  /** Null: it runs as the worker does. */
  readonly sandbox: McpSandbox | null;
}

/** Parts of the machine that a sandboxed server has besides the system's programs. */
export interface McpSandbox {
  readonly network: boolean;
  /** Absolute paths that it may read. */
  readonly read: readonly string[];
  /** Absolute paths that it may change. */
  readonly write: readonly string[];
}

/** Server that the worker calls by streamable HTTP. */
export interface McpHttp {
  readonly type: 'http';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Tool of a server as it was when a run began. A run offers this text and no later one, and calls the tool only while it
 * is the same.
 */
export const PinnedTool = z.strictObject({
  /** `mcp__<server>__<tool>`. */
  name: z.string(),
  server: z.string(),
  /** Name at the server. */
  tool: z.string(),
  /** SHA-256 of what the server says about it, in Base64. */
  hash: z.string(),
  /** Text of the server, cleaned and cut. */
  description: z.string(),
  /** JSON schema of the arguments. */
  schema: z.record(z.string(), z.unknown()),
  effect: z.enum(['read', 'acting']),
  /** True when a call that was interrupted may be repeated. */
  repeatable: z.boolean(),
  brings: z.array(z.enum(['untrusted_text', 'private_data', 'acts_outside'])),
});
export type PinnedTool = z.infer<typeof PinnedTool>;

export interface ListedTools {
  /** Sorted by name. */
  readonly tools: readonly PinnedTool[];
  /** Tools that can't be offered, each with the reason. */
  readonly leftOut: readonly { readonly tool: string; readonly reason: string }[];
}

export interface McpCall {
  readonly run_id: string;
  readonly pin: PinnedTool;
  readonly input: unknown;
  /** Aborted: the server is told to stop. */
  readonly signal: AbortSignal;
  /** Called with the words of the server's progress. */
  readonly onProgress: (words: string) => void;
}

/** Answer of a tool, unchecked. */
export interface McpAnswer {
  readonly content: readonly unknown[];
  readonly structured: unknown;
  readonly isError: boolean;
}

/** Servers of a worker: one connection for each run and server. */
export interface McpServers {
  /** Settings by the server's name. */
  readonly servers: ReadonlyMap<string, McpServer>;
  /** Starts a server, or connects, and lists its tools. @throws {McpUnavailable} */
  list(server: string): Promise<ListedTools>;
  /**
   * Calls a tool on the connection of its run.
   *
   * @throws {McpUnavailable} when the call was not sent.
   * @throws {McpRefused} when the server answered that it did not make the call.
   * @throws {Error} when it is unknown whether the call was made.
   */
  call(call: McpCall): Promise<McpAnswer>;
  /** Closes all connections and ends all servers that were started. */
  close(): Promise<void>;
}

/** No call was made: the server can't be reached, or the tool has changed. The message names the cure. */
export class McpUnavailable extends Error {
  override readonly name = 'McpUnavailable';
}

/** The server refused a call. The message is its own. */
export class McpRefused extends Error {
  override readonly name = 'McpRefused';
}
