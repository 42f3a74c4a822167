import type { Usage } from '../../contracts/usage.ts';
import { ModelAborted, ModelFailure } from '../../activities/ports/model-client.ts';
import type {
  ModelCallOptions,
  ModelClient,
  ModelReply,
  ModelRequest,
  TokenCount,
} from '../../activities/ports/model-client.ts';

/** Reply of the model to one call. */
export type Script = (
  request: ModelRequest,
  options: ModelCallOptions,
) => ModelReply | Promise<ModelReply>;

/** Model port that follows its scripts, call by call. The last script is repeated for ever. */
export interface ScriptedModel extends ModelClient {
  readonly requests: ModelRequest[];
}

export function createScriptedModel(scripts: readonly Script[]): ScriptedModel {
  const requests: ModelRequest[] = [];
  return {
    requests,
    complete: async (request, options) => {
      const script = scripts[Math.min(requests.length, scripts.length - 1)];
      requests.push(request);
      if (script === undefined) throw new Error('the model has no script');
      return script(request, options);
    },
  };
}

const someTokens: TokenCount = {
  inputTokens: 100,
  cacheCreationInputTokens: 0,
  cacheReadInputTokens: 0,
  outputTokens: 10,
};

/** Creates a reply of one text. */
export function sayText(text: string, stopReason = 'end_turn'): Script {
  return () => ({
    content: [{ type: 'text', text }],
    stopReason,
    tokens: someTokens,
    requestId: 'req_1',
    model: 'rehearsal',
  });
}

export function sayJson(value: unknown, stopReason = 'end_turn'): Script {
  return sayText(JSON.stringify(value), stopReason);
}

export function callTools(calls: readonly { id: string; name: string; input: unknown }[]): Script {
  return () => ({
    content: calls.map((call) => ({ type: 'tool_use', ...call })),
    stopReason: 'tool_use',
    tokens: someTokens,
    requestId: 'req_1',
    model: 'rehearsal',
  });
}

/** A failure of the provider after which a call is made again. @param usage what was billed nevertheless; null: nothing. */
export function unavailable(
  message: string,
  {
    status = null,
    usage = null,
  }: { readonly status?: number | null; readonly usage?: Usage | null },
): ModelFailure {
  return new ModelFailure(message, {
    type: 'ModelUnavailable',
    retryable: true,
    details: { status, type: null, error_code: null, request_id: null, model: 'rehearsal', usage },
  });
}

/** Streams for ever, until the call is aborted. */
export function hang(
  tokens: TokenCount | null = someTokens,
): (request: ModelRequest, options: ModelCallOptions) => Promise<ModelReply> {
  return (request, { signal, onProgress }) => {
    onProgress({ outputTokens: 7, lastWords: 'so far so good' });
    return new Promise((_resolve, reject) => {
      const abort = (): void => reject(new ModelAborted(request.model, tokens));
      if (signal.aborted) abort();
      else signal.addEventListener('abort', abort, { once: true });
    });
  };
}
