import { request } from 'node:http';
import type { AnswerInput } from '../../../contracts/question.ts';
import type { AnswerResult } from '../../../client/submit-answer.ts';
import type { RunEntry, RunPage } from '../../../contracts/run-page.ts';
import { serveView } from '../../../client/view/serve-view.ts';
import type { ServedUrl } from '../../../client/listen.ts';
import type { ViewSources } from '../../../client/view/serve-view.ts';
import { samplePage } from '../../support/sample-page.ts';

const token = 'a1b2c3';

let served: ServedUrl;
let version = 1;
let result: AnswerResult;
let page: RunPage;
const answers: (readonly [string, AnswerInput])[] = [];

const runs: RunEntry[] = [
  {
    run_id: 'sample',
    goal_title: 'Host <it>',
    state: 'waiting for you',
    started_at: 1_764_090_000,
  },
  { run_id: 'a/b "c"', goal_title: '', state: 'damaged', started_at: null },
];
const sources: ViewSources = {
  listRuns: () => Promise.resolve(runs),
  readPage: (runId) => Promise.resolve(runId === 'sample' ? page : null),
  readVersion: () => Promise.resolve(String(version)),
  answer: (runId, answer) => {
    answers.push([runId, answer]);
    return Promise.resolve(result);
  },
};

beforeEach(async () => {
  answers.length = 0;
  page = samplePage();
  result = { status: 'accepted', question_id: 'q2', accepted: 'it' };
  served = await serveView(sources, { port: 0, token, runId: 'sample', everyMs: 5 });
});
afterEach(() => served.close());

interface Reply {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
}

/** Sends a request with any headers; `fetch` would not let a test set the host. */
function send(path: string, { method = 'GET', headers = {}, body = '' } = {}): Promise<Reply> {
  const { port, host } = new URL(served.url);
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path, method, headers: { host, ...headers } };
    request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
    })
      .on('error', reject)
      .end(body);
  });
}

const path = `/${token}/run/sample/`;

function post(form: Record<string, string>, headers: Record<string, string> = {}): Promise<Reply> {
  const body = new URLSearchParams(form).toString();
  const origin = new URL(served.url).origin;
  const type = 'application/x-www-form-urlencoded';
  return send(`${path}answer`, {
    method: 'POST',
    headers: { origin, 'content-type': type, ...headers },
    body,
  });
}

it('VS1: only who has the token sees a page', async () => {
  expect(new URL(served.url).hostname).toBe('127.0.0.1');
  expect(new URL(served.url).pathname).toBe(path);
  expect(await send(path)).toMatchObject({
    status: 200,
    text: expect.stringContaining('The answer'),
  });
  for (const wrong of ['/', '/run/sample/', '/wrong/run/sample/', `/${token}x/run/sample/`]) {
    const reply = await send(wrong);
    expect(reply.status).toBe(404);
    expect(reply.text).not.toContain('The answer');
  }
  const list = await send(`/${token}/`);
  expect(list.text).toContain('<a href="run/a%2Fb%20%22c%22/">a/b &quot;c&quot;</a>');
  expect(list.text).toContain('<a href="run/sample/">Host &lt;it&gt;</a>');
  expect(list.text).toMatch(/waiting for you[\s\S]*2025-11-25 17:00[\s\S]*damaged/);
  const unknown = await send(`/${token}/run/unknown/`);
  expect(unknown).toMatchObject({ status: 404, text: expect.stringContaining('"/a1b2c3/">All') });
  expect((await send(`/${token}/run/%E0%A4%A/`)).status).toBe(404);
});

it('VS2: requests that other pages make are refused', async () => {
  const port = new URL(served.url).port;
  expect((await send(path, { headers: { host: `localhost:${port}` } })).status).toBe(200);
  for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1', `127.0.0.1:1${port}`]) {
    expect((await send(path, { headers: { host } })).status).toBe(403);
  }
  const origin = 'http://evil.example';
  expect((await send(path, { headers: { origin } })).status).toBe(403);
  const form = { question_id: 'q2', answer: 'yes' };
  for (const foreign of [origin, 'null', `http://localhost:${port}`]) {
    expect((await post(form, { origin: foreign })).status).toBe(403);
  }
  const { host } = new URL(served.url);
  const bare = { method: 'POST', headers: { host }, body: 'question_id=q2&answer=yes' };
  expect((await send(`${path}answer`, bare)).status).toBe(403);
  expect((await send(`${path}answer?question_id=q2&answer=yes`)).status).toBe(404);
  expect(answers).toEqual([]);
});

it('VS3: nothing is cached, and no other page may have it', async () => {
  const { headers } = await send(path);
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  });
  expect(headers['content-security-policy']).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
});

it('VS4: an answer goes the way of the command, and the page tells what the run said', async () => {
  const sent = await post({ question_id: 'q2', answer: 'two\r\nlines' });
  expect(sent).toMatchObject({ status: 303, headers: { location: `${path}#question-q2` } });
  await post({ question_id: 'q3', answer: 'approve' });
  await post({ question_id: 'q3', as_default: '1', answer: '' });
  await post({ question_id: 'q9', answer: 'unknown' });
  expect(answers).toEqual([
    ['sample', { question_id: 'q2', answer: 'two\nlines' }],
    ['sample', { question_id: 'q3', answer: 'approve' }],
    ['sample', { question_id: 'q3', answer: 'deny', as_default: true }],
    ['sample', { question_id: 'q9', answer: 'unknown' }],
  ]);
  expect((await send(path)).text).toContain('role="alert">q2 answered: it');

  result = { status: 'refused', question_id: 'q2', reason: 'q2: <too> long', example: null };
  await post({ question_id: 'q2', answer: 'x' });
  const { text } = await send(path);
  expect(text).toContain('q2 was not answered: &lt;too&gt; long');
  expect(text.replaceAll('\n', ' ')).toContain('name="question_id" value="q2"');
  expect(await post({ question_id: 'q2', answer: 'x'.repeat(2_000_001) })).toMatchObject({
    status: 413,
  });
});

it('VS4: an answer that was sent while no worker took it is shown as refused when it is, and can be given again', async () => {
  const reason = 'q2: expected a number';
  const old = { question_id: 'q2', reason: 'q2: too long', example: null, rejected_at: 1 };
  page = { ...samplePage(), rejected_answers: [old] };
  result = { status: 'sent', question_id: 'q2', note: 'No worker takes it now.' };
  await post({ question_id: 'q2', answer: '12,5' });
  const before = (await send(path)).text;
  expect(before).toContain('role="alert">q2: No worker takes it now.');
  expect(before.replaceAll('\n', ' ')).toContain('name="question_id" value="q2"');

  const rejected = { question_id: 'q2', reason, example: null, rejected_at: 2 };
  page = { ...page, rejected_answers: [old, rejected] };
  const after = (await send(path)).text;
  expect(after).toContain('role="alert">q2 was not answered: expected a number');
  expect(after).not.toContain('No worker takes it now');
  expect(after.replaceAll('\n', ' ')).toContain('name="question_id" value="q2"');
});

it('a page hears of what has changed since it was read, and the server ends with pages open', async () => {
  const [, events = ''] = /data-events="([^"]*)"/.exec((await send(path)).text) ?? [];
  // Before the page listens: it must not be missed.
  version += 1;
  const reply = await fetch(new URL(events, served.url));
  const read = async (): Promise<string> => {
    let text = '';
    for await (const chunk of reply.body ?? []) {
      text += Buffer.from(chunk).toString('utf8');
      if (text.split('event: changed').length > 2) break;
    }
    return text;
  };
  const heard = read();
  version += 1;
  expect(await heard).toMatch(/^: planwave\n\n(?:event: changed\ndata: \{\}\n\n){2}$/);
  const second = await fetch(`${served.url}events`);
  await served.close();
  await expect(second.text()).rejects.toThrow('terminated');
  served = await serveView(sources, { port: 0, token, runId: null });
  expect(new URL(served.url).pathname).toBe(`/${token}/`);
});

it('the list of runs hears of a change too', async () => {
  const list = `/${token}/`;
  const { text } = await send(list);
  const [, events = ''] = /data-events="([^"]*)"/.exec(text) ?? [];
  expect(events).toMatch(new RegExp(`^${list}events\\?version=\\w+$`));
  runs.unshift({ run_id: 'new', goal_title: 'New', state: 'intake', started_at: 1_764_090_001 });
  const reply = await fetch(new URL(events, served.url));
  for await (const chunk of reply.body ?? []) {
    if (Buffer.from(chunk).toString('utf8').includes('event: changed')) break;
  }
  expect((await send(list)).text).toContain('id="run-new"');
  runs.shift();
});

it('a port in use is refused with what to try', async () => {
  const port = Number(new URL(served.url).port);
  await expect(serveView(sources, { port, token, runId: null })).rejects.toMatchObject({
    code: 'bad_input',
    message: `127.0.0.1:${port} can't be listened on: another program uses it. Try: another port`,
  });
});
