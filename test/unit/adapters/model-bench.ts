import { createAnthropicClient } from '../../../activities/adapters/anthropic/anthropic-client.ts';
import { ModelAborted, ModelFailure } from '../../../activities/ports/model-client.ts';
import type {
  ModelCallOptions,
  ModelClient,
  ModelReply,
  ModelRequest,
} from '../../../activities/ports/model-client.ts';
import type { Reply, ReplyFunction } from '../../../rehearsal/script.ts';
import { startRehearsalServer } from '../../../rehearsal/server/server.ts';
import type { RehearsalServer } from '../../../rehearsal/server/server.ts';

export const apiKey = 'sk-test-0123456789-planted-key';

export const request: ModelRequest = {
  model: 'rehearsal',
  maxOutputTokens: 1_000,
  system: [],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello, say something.' }] }],
  tools: [],
  callKey: 'run/wave-001/task/turn-1',
};

export function callOptions(signal: AbortSignal = new AbortController().signal): ModelCallOptions {
  return { signal, onProgress: () => undefined };
}

/** The real client, the real SDK and real HTTP, with a server that fails as it is told. */
export interface ModelBench {
  readonly server: RehearsalServer;
  readonly client: ModelClient;
  /** Makes one call that the server answers so. Fails unless exactly one call reached the server. */
  fail(reply: Reply | ReplyFunction, changes?: Partial<ModelRequest>): Promise<ModelFailure>;
  reply(reply: Reply | ReplyFunction, changes?: Partial<ModelRequest>): Promise<ModelReply>;
  createClient(limits: { idleTimeoutMs?: number; totalTimeoutMs?: number }): ModelClient;
}

export async function startModelBench(): Promise<ModelBench> {
  const server = await startRehearsalServer({ port: 0, thinkMs: 0 });
  const createClient: ModelBench['createClient'] = (limits) =>
    createAnthropicClient({ apiKey, baseUrl: server.url, ...limits });
  const client = createClient({ idleTimeoutMs: 20_000 });
  const callOnce = async (reply: Reply | ReplyFunction, changes: Partial<ModelRequest>) => {
    server.reset();
    server.script([{ reply }]);
    const outcome = await client
      .complete({ ...request, ...changes }, callOptions())
      .catch(asFailure);
    // The fault fired, and the SDK did not repeat the call on its own.
    const calls = await server.waitForCalls(1);
    if (calls.length !== 1 || calls[0]?.rule !== 0) throw new Error('the fault did not fire once');
    return outcome;
  };
  return {
    server,
    client,
    createClient,
    fail: async (reply, changes = {}) => {
      const outcome = await callOnce(reply, changes);
      if (outcome instanceof ModelFailure) return outcome;
      throw new Error(`expected a failure, got ${JSON.stringify(outcome)}`);
    },
    reply: async (reply, changes = {}) => {
      const outcome = await callOnce(reply, changes);
      if (outcome instanceof ModelFailure) throw outcome;
      return outcome;
    },
  };
}

export function asFailure(error: unknown): ModelFailure {
  if (error instanceof ModelFailure) return error;
  throw error;
}

export function asAborted(error: unknown): ModelAborted {
  if (error instanceof ModelAborted) return error;
  throw error;
}
