import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import {
  readMessagesRequest,
  type MessagesRequest,
  parseJson,
  type JsonObject,
} from '../messages-api.ts';
import { countInputTokens } from '../replies/accounting.ts';
import { deliver } from '../replies/deliver.ts';
import { ClientGone, errorTypeOf, Exchange, formatApiError } from '../replies/exchange.ts';
import { createId } from '../replies/message.ts';
import { composeDefaultReply } from '../rules/default-reply.ts';
import { placeTurn } from '../rules/member-prompt.ts';
import { placeTask } from '../rules/prompt.ts';
import { recogniseShape } from '../rules/shape-rules.ts';
import {
  readScript,
  type ContentReply,
  type Reply,
  type ScriptRule,
  type CallPlace,
} from '../script.ts';
import type { RehearsalState } from './state.ts';

/** Sends a whole JSON response. */
export function sendJson(response: ServerResponse, body: unknown, requestId: string): void {
  response.writeHead(200, { 'content-type': 'application/json', 'request-id': requestId });
  response.end(JSON.stringify(body));
}

/** Sends an error in the API's shape. */
export function sendApiError(
  response: ServerResponse,
  status: number,
  message: string,
  requestId: string,
): void {
  response.writeHead(status, { 'content-type': 'application/json', 'request-id': requestId });
  response.end(formatApiError({ type: errorTypeOf(status), message }, requestId));
}

/** Largest request of the API: 32 MB. */
const bodyBytesMax = 32 * 1024 * 1024;

/** Reads the body as text; undefined when it is larger than `bodyBytesMax`. Rejects when the client disconnects. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    // The rest is still read, so that the client gets the answer instead of a broken connection.
    if (bytes <= bodyBytesMax) chunks.push(chunk);
  }
  return bytes > bodyBytesMax ? undefined : Buffer.concat(chunks).toString('utf8');
}

/** Describes a model of the list. Its capabilities are null, which the API allows for unknown ones. */
function describeModel(id: string, line: string): JsonObject {
  return {
    type: 'model',
    id,
    display_name: `Rehearsal of ${id}`,
    created_at: '1970-01-01T00:00:00Z',
    lifecycle: 'active',
    line,
    capabilities: null,
    deprecated_at: null,
    retires_at: null,
    max_input_tokens: 200_000,
    max_tokens: 64_000,
  };
}

const models = [
  describeModel('claude-opus-5-5', 'opus'),
  describeModel('claude-sonnet-5-5', 'sonnet'),
  describeModel('claude-fable-5-1', 'fable'),
  describeModel('claude-haiku-5-5', 'haiku'),
];

/** Returns the answer to `GET /v1/models`: one page. The rehearsal model answers to every other name as well. */
export function listModels(): JsonObject {
  return {
    data: models,
    has_more: false,
    first_id: models[0]?.['id'] ?? null,
    last_id: models.at(-1)?.['id'] ?? null,
  };
}

/** Returns the answer to `GET /v1/models/{id}`; undefined when the model is not listed. */
export function findModel(id: string): JsonObject | undefined {
  return models.find((model) => model['id'] === id);
}

const scriptRequestId = 'req_rehearsal_script';
const waitMsDefault = 30_000;

async function writeScript(
  state: RehearsalState,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const rules = readScript(parseJson((await readBody(incoming)) ?? ''));
  if (typeof rules === 'string') {
    sendApiError(response, 400, rules, scriptRequestId);
    return;
  }
  state.book.write(rules);
  sendJson(response, { rules: rules.length }, scriptRequestId);
}

/** Answers when so many calls have arrived (or ended), or with status 408 when `timeout_ms` is over. */
async function waitForCalls(
  state: RehearsalState,
  query: URLSearchParams,
  response: ServerResponse,
): Promise<void> {
  const count = Number(query.get('calls') ?? 1);
  const until = query.get('until') === 'ended' ? 'ended' : 'arrived';
  const signal = AbortSignal.timeout(Number(query.get('timeout_ms') ?? waitMsDefault));
  try {
    await state.log.waitFor(count, until, signal);
    sendJson(response, { counts: state.log.counts() }, scriptRequestId);
  } catch {
    const { calls, ended } = state.log.counts();
    const message = `Waited for ${count} calls to be ${until}. Arrived: ${calls}, ended: ${ended}.`;
    sendApiError(response, 408, message, scriptRequestId);
  }
}

/**
 * The paths under `/_rehearsal`, for tests in other processes:
 * `POST script` (a list of rules), `POST reset`, `GET calls`, `GET wait?calls=N&until=ended&timeout_ms=30000`.
 *
 * @returns false when the path is none of them.
 */
export async function answerScripting(
  state: RehearsalState,
  url: URL,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  switch (`${incoming.method} ${url.pathname}`) {
    case 'POST /_rehearsal/script':
      await writeScript(state, incoming, response);
      return true;
    case 'POST /_rehearsal/reset':
      state.reset();
      sendJson(response, {}, scriptRequestId);
      return true;
    case 'GET /_rehearsal/calls':
      sendJson(response, { counts: state.log.counts(), calls: state.log.calls() }, scriptRequestId);
      return true;
    case 'GET /_rehearsal/wait':
      await waitForCalls(state, url.searchParams, response);
      return true;
    default:
      return false;
  }
}

const tooLarge = 'Request exceeds the maximum size of 32 MB.';

/** A call that was read and recorded. */
interface Call extends CallPlace {
  readonly index: number;
  readonly request: MessagesRequest;
}

async function decideReply(rule: ScriptRule | undefined, call: Call): Promise<Reply> {
  const reply = rule?.reply ?? { pass: true as const };
  if (typeof reply !== 'function') return reply;
  const { index, request, ...place } = call;
  return await reply({
    index,
    callKey: request.callKey,
    ...place,
    body: request.body,
    defaultOutput: () => {
      const output = composeDefaultReply(request);
      return output.json ?? output.text ?? output.tool_use;
    },
  });
}

async function answer(
  state: RehearsalState,
  exchange: Exchange,
  call: Call,
  rule: ScriptRule | undefined,
): Promise<void> {
  const { request } = call;
  // Counted at arrival: a call reads the prefixes that others have begun to write by then.
  const { usage: input, begin: onBegin } = state.cache.account(request);
  const composeDefault = (): ContentReply => composeDefaultReply(request);
  try {
    const reply = await decideReply(rule, call);
    await deliver(reply, exchange, {
      request,
      index: call.index,
      input,
      composeDefault,
      onBegin,
      thinkMs: state.thinkMs,
    });
  } catch (error) {
    if (!(error instanceof ClientGone)) exchange.fail(error);
  }
}

const noPlace = { shape: null, turn: null, task: null } as const;

/** Records the fault of a body and answers it in the API's shape. */
function refuse(
  state: RehearsalState,
  response: ServerResponse,
  headers: IncomingHttpHeaders,
  bodyText: string | undefined,
  fault: string,
): void {
  const requestId = createId('req', state.nextRequestNumber());
  const body = parseJson(bodyText ?? '') ?? bodyText ?? null;
  const recorded = state.log.open({ ...noPlace, callKey: '', body, headers });
  const status = bodyText === undefined ? 413 : 400;
  new Exchange(response, recorded, requestId).send(
    status,
    { 'content-type': 'application/json' },
    formatApiError({ type: errorTypeOf(status), message: fault }, requestId),
  );
}

/** Handles `POST /v1/messages`: records it, and answers by the first matching script rule or the default rules. */
export async function answerMessages(
  state: RehearsalState,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { headers } = incoming;
  const bodyText = await readBody(incoming);
  if (bodyText === undefined) return refuse(state, response, headers, bodyText, tooLarge);
  const request = readMessagesRequest(bodyText, false);
  if (typeof request === 'string') return refuse(state, response, headers, bodyText, request);
  const { callKey, body } = request;
  const place: CallPlace = {
    shape: recogniseShape(request.schema),
    turn: placeTurn(request),
    task: placeTask(request),
  };
  const recorded = state.log.open({ callKey, ...place, body, headers });
  const requestId = createId('req', state.nextRequestNumber());
  const exchange = new Exchange(response, recorded, requestId);
  const taken = state.book.take({ request, ...place, bodyText });
  recorded.answeredBy(taken?.position ?? null);
  return answer(state, exchange, { index: recorded.index, request, ...place }, taken?.rule);
}

/** Handles `POST /v1/messages/count_tokens`, which is neither recorded nor scripted. */
export async function answerCountTokens(
  state: RehearsalState,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const requestId = createId('req', state.nextRequestNumber());
  const bodyText = await readBody(incoming);
  const read = bodyText === undefined ? tooLarge : readMessagesRequest(bodyText, true);
  if (typeof read === 'string') {
    sendApiError(response, read === tooLarge ? 413 : 400, read, requestId);
    return;
  }
  sendJson(response, { input_tokens: countInputTokens(read) }, requestId);
}
