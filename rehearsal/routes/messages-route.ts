import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { errorTypeOf, formatApiError } from '../replies/api-error.ts';
import { countInputTokens } from '../replies/accounting.ts';
import { createId } from '../replies/compose-message.ts';
import { composeDefaultReply } from '../rules/default-reply.ts';
import { deliver } from '../replies/deliver.ts';
import { ClientGone, Exchange } from '../replies/exchange.ts';
import { parseJson } from '../json.ts';
import { placeTurn } from '../rules/member-prompt.ts';
import type { TurnPlace } from '../rules/member-prompt.ts';
import { readMessagesRequest } from '../messages-api.ts';
import type { MessagesRequest } from '../messages-api.ts';
import { readBody } from './read-body.ts';
import { recogniseShape } from '../rules/recognise-shape.ts';
import type { Shape } from '../rules/recognise-shape.ts';
import { placeTask } from '../rules/task-place.ts';
import type { TaskPlace } from '../rules/task-place.ts';
import type { ContentReply, Reply, ScriptRule } from '../script.ts';
import { sendApiError, sendJson } from '../replies/send.ts';
import type { RehearsalState } from '../state.ts';

const tooLarge = 'Request exceeds the maximum size of 32 MB.';

/** A call that was read and recorded. */
interface Call {
  readonly index: number;
  readonly request: MessagesRequest;
  readonly shape: Shape | null;
  readonly turn: TurnPlace | null;
  readonly task: TaskPlace | null;
}

async function decideReply(rule: ScriptRule | undefined, call: Call): Promise<Reply> {
  const reply = rule?.reply ?? { pass: true as const };
  if (typeof reply !== 'function') return reply;
  const { request } = call;
  return await reply({
    index: call.index,
    callKey: request.callKey,
    shape: call.shape,
    turn: call.turn,
    task: call.task,
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
  const shape = recogniseShape(request.schema);
  const turn = placeTurn(request);
  const task = placeTask(request);
  const recorded = state.log.open({ callKey, shape, turn, task, body, headers });
  const requestId = createId('req', state.nextRequestNumber());
  const exchange = new Exchange(response, recorded, requestId);
  const taken = state.book.take({ request, shape, turn, task, bodyText });
  recorded.answeredBy(taken?.position ?? null);
  return answer(
    state,
    exchange,
    { index: recorded.index, request, shape, turn, task },
    taken?.rule,
  );
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
  sendJson(response, 200, { input_tokens: countInputTokens(read) }, requestId);
}
