import type { CallToolResult } from '@modelcontextprotocol/server';
import { PlanwaveClientError } from '../client-error.ts';
import type { PlanwaveClient } from '../planwave-client.ts';

/** Dependencies of the tools for chat clients. */
export interface ChatDeps {
  readonly client: PlanwaveClient;
  /** Reads the stored `result.md` of a run; null when there is none on this machine. */
  readonly readResult: (runId: string) => Promise<string | null>;
  readonly version: string;
}

/** A call that can't be made, in words for the model of the chat. */
export class ChatRefusal extends Error {
  override readonly name = 'ChatRefusal';
}

/** Runs one call. What the client reports, and every refusal, is an error result that says what to try. */
export async function callTool(work: () => Promise<object>): Promise<CallToolResult> {
  try {
    const text = JSON.stringify(await work(), null, 1);
    return { content: [{ type: 'text', text }] };
  } catch (error) {
    if (!(error instanceof PlanwaveClientError) && !(error instanceof ChatRefusal)) throw error;
    return { content: [{ type: 'text', text: error.message }], isError: true };
  }
}
