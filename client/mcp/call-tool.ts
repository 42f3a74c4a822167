import type { CallToolResult } from '@modelcontextprotocol/server';
import { PlanwaveClientError } from '../client-error.ts';
import type { PlanwaveClient } from '../planwave-client.ts';

/** Dependencies of the tools for chat clients. */
export interface ChatDeps {
  /** Returns the client on an open connection, which is made when it is needed. @throws {PlanwaveClientError} */
  readonly connect: () => Promise<PlanwaveClient>;
  /** Reads the stored `result.md` of a run; null when there is none on this machine. */
  readonly readResult: (runId: string) => Promise<string | null>;
  readonly version: string;
  /** Folder with agents for the runs that chats start, an absolute path on the worker's machine. If undefined, the shipped ones alone. */
  readonly agentsDir?: string | undefined;
}

/** Dependencies of one call. */
export interface ChatCall extends ChatDeps {
  readonly client: PlanwaveClient;
}

/** A call that can't be made, in words for the model of the chat. */
export class ChatRefusal extends Error {
  override readonly name = 'ChatRefusal';
}

/**
 * Runs one call. What the client reports, and every refusal, is an error result that says what to try: a server that is away
 * ends a call and nothing else.
 */
export async function callTool(
  deps: ChatDeps,
  work: (call: ChatCall) => Promise<object>,
): Promise<CallToolResult> {
  try {
    const client = await deps.connect();
    const text = JSON.stringify(await work({ ...deps, client }), null, 1);
    return { content: [{ type: 'text', text }] };
  } catch (error) {
    if (!(error instanceof PlanwaveClientError) && !(error instanceof ChatRefusal)) throw error;
    return { content: [{ type: 'text', text: error.message }], isError: true };
  }
}
