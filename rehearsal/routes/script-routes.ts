import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseJson } from '../json.ts';
import { readBody } from './read-body.ts';
import { readScript } from '../scripting/read-script.ts';
import { sendApiError, sendJson } from '../replies/send.ts';
import type { RehearsalState } from '../state.ts';

const requestId = 'req_rehearsal_script';
const waitMsDefault = 30_000;

async function writeScript(
  state: RehearsalState,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const rules = readScript(parseJson((await readBody(incoming)) ?? ''));
  if (typeof rules === 'string') {
    sendApiError(response, 400, rules, requestId);
    return;
  }
  state.book.write(rules);
  sendJson(response, 200, { rules: rules.length }, requestId);
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
    sendJson(response, 200, { counts: state.log.counts() }, requestId);
  } catch {
    const { calls, ended } = state.log.counts();
    const message = `Waited for ${count} calls to be ${until}. Arrived: ${calls}, ended: ${ended}.`;
    sendApiError(response, 408, message, requestId);
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
      sendJson(response, 200, {}, requestId);
      return true;
    case 'GET /_rehearsal/calls':
      sendJson(response, 200, { counts: state.log.counts(), calls: state.log.calls() }, requestId);
      return true;
    case 'GET /_rehearsal/wait':
      await waitForCalls(state, url.searchParams, response);
      return true;
    default:
      return false;
  }
}
