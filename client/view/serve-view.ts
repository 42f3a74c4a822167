import { setTimeout as sleep } from 'node:timers/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AnswerInput } from '../../contracts/question.ts';
import type { PageQuestion, RunEntry, RunPage } from '../../contracts/run-page.ts';
import { hashText } from '../../core/text/hash-text.ts';
import { describeAnswerResult, parseAnswer } from '../cli/ask/answers.ts';
import { type ServedUrl, isSameText, listen, readBody } from '../listen.ts';
import type { PlanwaveClient } from '../planwave-client.ts';
import { anchor, markup } from './markup.ts';
import { contentPolicy } from './page-style.ts';
import { renderList } from './render-list.ts';
import { renderDocument, renderPage } from './render-page.ts';
import { noticeOf, type SentAnswer } from './render-question.ts';
import { messageOf } from '../../core/text/message-of.ts';

/** Sources of the pages, and the way of answers. */
export interface ViewSources {
  /** Lists the runs of the artifact home, the newest first. */
  readonly listRuns: () => Promise<readonly RunEntry[]>;
  /** @returns null for an unknown run. */
  readonly readPage: (runId: string) => Promise<RunPage | null>;
  /** Returns a text that changes with everything that a page shows. */
  readonly readVersion: (runId: string) => Promise<string>;
  readonly answer: PlanwaveClient['answer'];
}

export interface ViewOptions {
  /** 0 takes any free port. */
  readonly port: number;
  /** The pages' addresses begin with it. Letters and digits. */
  readonly token: string;
  /** The run that the first page shows; null for a list. */
  readonly runId: string | null;
  /** Milliseconds between two looks for changes. If undefined: 1,000. */
  readonly everyMs?: number | undefined;
}

/** Maximum bytes of a posted answer. A run takes less. */
const answerBytesMax = 2_000_000;

interface View extends ViewSources, ViewOptions {
  /** Fates of answers, by run and question. */
  readonly notices: Map<string, Map<string, SentAnswer>>;
  readonly closing: AbortSignal;
}

/**
 * Serves runs as pages on loopback.
 *
 * Invariants:
 *   VS1. Nothing is told or taken without the token, which is compared in constant time.
 *   VS2. A request that a page of another host makes is refused: its host or its origin is another one.
 *   VS3. Nothing is cached, and no other page may embed or load a page.
 *   VS4. An answer is sent as the command `answer` sends it, and its page tells what the run said, whatever became of the
 *   question meanwhile.
 *
 * @throws {PlanwaveClientError} when the port can't be had.
 */
export async function serveView(sources: ViewSources, options: ViewOptions): Promise<ServedUrl> {
  const closing = new AbortController();
  const view: View = { ...sources, ...options, notices: new Map(), closing: closing.signal };
  const server = await listen(options, (request, response) => {
    handle(view, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendText(response, 500, messageOf(error));
    });
  });
  const first = options.runId === null ? '' : runPath(options.runId);
  return {
    url: `http://127.0.0.1:${server.port}/${options.token}/${first}`,
    close: () => {
      closing.abort();
      return server.close();
    },
  };
}

function runPath(runId: string): string {
  return `run/${encodeURIComponent(runId)}/`;
}

async function handle(
  view: View,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const fault = findFault(request);
  if (fault !== null) return sendText(response, 403, fault);
  const { pathname } = new URL(request.url ?? '/', 'http://127.0.0.1');
  const [, token = '', ...path] = pathname.split('/');
  if (!isSameText(token, view.token)) {
    return sendText(
      response,
      404,
      'There is no such page. Try: the address that planwave view printed',
    );
  }
  if (request.method === 'GET' && path.length === 1) {
    if (path[0] === '') return sendList(view, response);
    if (path[0] === 'events')
      return sendEvents(view, request, response, () => readListVersion(view));
  }
  return handleRun(view, path, request, response);
}

async function handleRun(
  view: View,
  [kind, encoded = '', action = '', ...rest]: readonly string[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const runId = decode(encoded);
  const send = runActions.get(`${request.method ?? ''} ${action}`);
  if (kind !== 'run' || runId === null || rest.length > 0 || send === undefined) {
    return sendMissing(view, response, 'There is no such page.');
  }
  return send(view, runId, response, request);
}

type RunAction = (
  view: View,
  runId: string,
  response: ServerResponse,
  request: IncomingMessage,
) => Promise<void>;

/** Requests about a run, by method and the end of the path. */
const runActions: ReadonlyMap<string, RunAction> = new Map<string, RunAction>([
  ['GET ', sendRun],
  [
    'GET events',
    (view, runId, response, request) =>
      sendEvents(view, request, response, () => readVersion(view, runId)),
  ],
  ['POST answer', takeAnswer],
]);

/** @returns why a request may not come in, or null. */
function findFault({ method, headers, socket }: IncomingMessage): string | null {
  const { host, origin } = headers;
  const port = socket.localPort ?? 0;
  if (host !== `127.0.0.1:${port}` && host !== `localhost:${port}`) {
    return 'This host name is not served here.';
  }
  const isOwn = origin === `http://${host}`;
  if (origin !== undefined && !isOwn) return 'Requests of other pages are not taken.';
  return method === 'GET' || isOwn ? null : 'Only the page itself may send something.';
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

const headers = {
  'cache-control': 'no-store',
  'content-security-policy': `${contentPolicy(true)}; frame-ancestors 'none'`,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
} as const;

function sendText(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { ...headers, 'content-type': 'text/plain; charset=utf-8' });
  response.end(`${text}\n`);
}

function sendHtml(response: ServerResponse, page: string, status = 200): void {
  response.writeHead(status, { ...headers, 'content-type': 'text/html; charset=utf-8' });
  response.end(page);
}

async function sendList(view: View, response: ServerResponse): Promise<void> {
  const runs = await view.listRuns();
  const live = { base: `/${view.token}/`, version: versionOf(runs) };
  return sendHtml(response, renderList(runs, { ...live, pathOf: runPath }));
}

async function readListVersion(view: View): Promise<string> {
  return versionOf(await view.listRuns());
}

/** Names what a page of these parts shows. */
function versionOf(shown: unknown): string {
  return hashText(JSON.stringify(shown));
}

/** Says that there is no such page, with a way to the others. */
function sendMissing({ token }: View, response: ServerResponse, why: string): void {
  const parts = markup`<header><h1>Not found</h1></header>
    <main id="main">
      <p>${why}</p>
      <p><a href="/${token}/">All runs</a></p>
    </main>`;
  sendHtml(response, renderDocument('Not found', null, parts), 404);
}

async function sendRun(view: View, runId: string, response: ServerResponse): Promise<void> {
  // Before the page is read: a later change is told.
  const version = await readVersion(view, runId);
  const page = await view.readPage(runId);
  if (page === null) {
    return sendMissing(view, response, `No run ${JSON.stringify(runId)} is stored here.`);
  }
  const given = view.notices.get(runId) ?? new Map<string, SentAnswer>();
  const notices = new Map([...given].map(([id, one]) => [id, noticeOf(page, id, one)]));
  const base = `/${view.token}/${runPath(runId)}`;
  return sendHtml(response, renderPage(page, { base, version, notices }));
}

async function readVersion(view: View, runId: string): Promise<string> {
  return hashText(await view.readVersion(runId));
}

/** Tells the page when something has changed since the version that it shows, until it leaves. */
async function sendEvents(
  view: View,
  { url = '' }: IncomingMessage,
  response: ServerResponse,
  readNewest: () => Promise<string>,
): Promise<void> {
  const left = new AbortController();
  response.on('close', () => left.abort());
  response.writeHead(200, { ...headers, 'content-type': 'text/event-stream' });
  response.write(': planwave\n\n');
  const signal = AbortSignal.any([left.signal, view.closing]);
  let shown = new URL(url, 'http://127.0.0.1').searchParams.get('version');
  while (!signal.aborted) {
    // One look after the other, as long as the page is open.
    // oxlint-disable-next-line no-await-in-loop
    const version = await readNewest();
    if (version !== shown) response.write('event: changed\ndata: {}\n\n');
    shown = version;
    // oxlint-disable-next-line no-await-in-loop
    await sleep(view.everyMs ?? 1_000, undefined, { signal }).catch(() => undefined);
  }
  response.end();
}

async function takeAnswer(
  view: View,
  runId: string,
  response: ServerResponse,
  request: IncomingMessage,
): Promise<void> {
  const body = await readBody(request, answerBytesMax);
  if (body === null) return sendText(response, 413, 'The answer is too long.');
  const form = new URLSearchParams(body.toString('utf8'));
  const questionId = form.get('question_id') ?? '';
  const page = await view.readPage(runId);
  const question = page?.open_questions.find((one) => one.question_id === questionId);
  const result = await view.answer(runId, toAnswer(questionId, question, form));
  const notices = view.notices.get(runId) ?? new Map<string, SentAnswer>();
  notices.set(questionId, {
    text: describeAnswerResult(runId, result).join(' '),
    isTaken: result.status === 'accepted',
    before: result.status === 'sent' ? (page?.rejected_answers ?? []) : null,
  });
  view.notices.set(runId, notices);
  const place = `${runPath(runId)}#${anchor('question', questionId)}`;
  response.writeHead(303, { ...headers, location: `/${view.token}/${place}` });
  response.end();
}

/** Reads a form as the answer that its question asks for. Browsers send line breaks as two characters. */
function toAnswer(
  question_id: string,
  question: PageQuestion | undefined,
  form: URLSearchParams,
): AnswerInput {
  if (
    form.get('as_default') === '1' &&
    question !== undefined &&
    question.default_answer !== null
  ) {
    return {
      question_id,
      answer: parseAnswer(question, question.default_answer),
      as_default: true,
    };
  }
  const typed = (form.get('answer') ?? '').replaceAll('\r\n', '\n');
  return { question_id, answer: question === undefined ? typed : parseAnswer(question, typed) };
}
