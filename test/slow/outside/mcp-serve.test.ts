import { mkdtempSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createPlanwaveClient } from '../../../client/planwave-client.ts';
import type { ServedUrl } from '../../../client/listen.ts';
import { createMcpServer, serveHttp } from '../../../client/mcp/create-mcp-server.ts';
import { isRecord } from '../../../core/json.ts';
import { openQuestion } from '../../support/asking.ts';
import { eventually } from '../../support/eventually.ts';
import {
  blocked,
  completed,
  plan,
  plans,
  question,
  work,
  works,
} from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';
import { provideWritingAgent } from '../../support/writing-agent.ts';

const script = fileURLToPath(new URL('../../../scripts/planwave.mjs', import.meta.url));
const { stage } = useStage();
const open: Client[] = [];
const faces: ServedUrl[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
  await Promise.all(faces.splice(0).map((face) => face.close()));
});

type Mode = 'legacy' | 'auto' | { readonly pin: string };

function createClient(mode: Mode): Client {
  const client = new Client({ name: 'chat', version: '1' }, { versionNegotiation: { mode } });
  open.push(client);
  return client;
}

async function overStdio(
  mode: Mode,
  { address = stage.address, args = [] }: { address?: string; args?: readonly string[] } = {},
): Promise<Client> {
  const { PATH = '', HOME = '' } = process.env;
  const client = createClient(mode);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [script, 'mcp', 'serve', ...args],
    env: {
      PATH,
      HOME,
      TEMPORAL_ADDRESS: address,
      PLANWAVE_HOME: stage.home,
      PLANWAVE_TASK_QUEUE: stage.taskQueue,
    },
    stderr: 'ignore',
  });
  await client.connect(transport);
  return client;
}

const token = 'a-token-of-24-characters';

async function openHttp(): Promise<string> {
  const { address, taskQueue } = stage;
  const { connection } = stage.client;
  const client = createPlanwaveClient({ connection, address, namespace: 'default', taskQueue });
  const deps = { connect: async () => client, version: '1', readResult: async () => null };
  const face = await serveHttp(() => createMcpServer(deps), { port: 0, token });
  faces.push(face);
  return face.url;
}

async function overHttp(mode: Mode): Promise<Client> {
  const client = createClient(mode);
  const url = new URL(await openHttp());
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return client;
}

interface Told {
  readonly isError: boolean;
  readonly text: string;
  readonly said: Readonly<Record<string, unknown>>;
}

async function call(client: Client, name: string, args: Record<string, unknown>): Promise<Told> {
  const { content, isError = false } = await client.callTool({ name, arguments: args });
  const [first] = content;
  const text = first?.type === 'text' ? first.text : '';
  const parsed: unknown = isError ? null : JSON.parse(text);
  return { isError, text, said: isRecord(parsed) ? parsed : {} };
}

/** A chat that starts a run, answers its question and reads its answer. */
async function chat(client: Client): Promise<void> {
  stage.rehearsal.script([
    plans(1, plan([work('letter')])),
    works(
      'letter',
      { json: blocked([question('For whom?', { default_answer: null })], 'letter-done') },
      1,
    ),
    works('letter', { json: completed('letter-done') }),
  ]);
  const tools = (await client.listTools()).tools.map(({ name }) => name).toSorted();
  expect(tools).toEqual([
    'answer_question',
    'get_result',
    'list_questions',
    'list_runs',
    'run_status',
    'start_run',
    'stop_run',
    'wait_for_run',
  ]);
  const { run_id } = (await call(client, 'start_run', { goal: 'Write a letter' })).said;
  expect((await call(client, 'get_result', { run_id })).text).toContain('has not ended');
  const waited = await eventually('a question', async () => {
    const { isError, said } = await call(client, 'wait_for_run', { run_id });
    return !isError && said['next'] !== 'wait_for_run' && said;
  });
  expect(waited).toMatchObject({ run_id, next: 'list_questions', open_questions: 1 });
  const asked = await call(client, 'list_questions', { run_id });
  expect(asked.said['questions']).toMatchObject([{ question_id: 'q1', text: 'For whom?' }]);
  // Runs at work come first, so those of other tests do not push this one out.
  const { said: listed } = await call(client, 'list_runs', { limit: 50 });
  expect(JSON.stringify(listed)).toContain(String(run_id));
  const answered = await call(client, 'answer_question', {
    run_id,
    question_id: 'q1',
    answer: 'Ana',
  });
  expect(answered.said).toMatchObject({ status: 'accepted', accepted: 'Ana' });
  for (let ended = false; !ended;) {
    const { said } = await call(client, 'wait_for_run', { run_id, seconds: 20 });
    ended = said['next'] === 'get_result';
  }
  const result = await call(client, 'get_result', { run_id });
  expect(result.said).toMatchObject({ page: 1, pages: 1 });
  expect(result.said['text']).toContain('letter-done');
  const late = await call(client, 'stop_run', { run_id });
  expect(late.text).toMatch(/has ended and takes no more messages\. Try: get_result$/);
}

it.each<[string, Mode]>([
  ['2025-11-25', 'legacy'],
  ['2026-07-28', { pin: '2026-07-28' }],
])(
  'over stdio in revision %s: a chat starts a run, answers its question and reads its answer',
  async (_name, mode) => {
    const client = await overStdio(mode);
    await chat(client);
    expect(client.getServerVersion()?.name).toBe('planwave');
  },
);

it.each<[string, Mode]>([
  ['2025-11-25', 'legacy'],
  ['2026-07-28', { pin: '2026-07-28' }],
])('over HTTP in revision %s', async (_name, mode) => {
  const client = await overHttp(mode);
  await chat(client);
  expect(client.getServerVersion()?.name).toBe('planwave');
});

it('a chat approves nothing: the question stays open for a person', async () => {
  const writes = { name: 'write_file', input: { path: 'a.txt', content: 'a' } };
  stage.rehearsal.script([
    plans(1, plan([work('note', { agent_id: 'scribe' })])),
    works('note', { tool_use: [writes] }, 1),
    works('note', { json: completed('note-done') }),
  ]);
  const agents_dir = provideWritingAgent(stage.home, 'scribe', 'high');
  const run = await stage.start('plannerRun', { goal: 'Write', agents_dir });
  const asked = await openQuestion(stage, run);
  expect(asked.kind).toBe('approval');
  const client = await overHttp('auto');
  const run_id = run.workflowId;
  const sent = { run_id, question_id: asked.question_id, answer: 'approve' };
  const refused = await call(client, 'answer_question', sent);
  expect(refused).toMatchObject({ isError: true });
  expect(refused.text).toContain('for a person to decide');
  expect(refused.text).toContain(`answer ${run_id} ${asked.question_id}`);
  // Nor does one that signs as a chat past the client.
  await expect(
    run.executeUpdate('submitAnswer', {
      args: [{ question_id: asked.question_id, answer: 'approve', answered_by: 'mcp' }],
    }),
  ).rejects.toThrow('Update failed');
  expect((await stage.questions(run)).open).toHaveLength(1);
  await call(client, 'stop_run', { run_id, reason: 'enough' });
  expect(await stage.result(run)).toMatchObject({ status: 'stopped' });
});

it('HTTP refuses what has no token, another host or another origin, and a faulty call says what to try', async () => {
  const url = await openHttp();
  const post = (headers: Record<string, string>) =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    });
  expect((await post({})).status).toBe(401);
  expect((await post({ authorization: 'Bearer no' })).status).toBe(401);
  const authorization = `Bearer ${token}`;
  expect((await post({ authorization, origin: 'https://evil.example' })).status).toBe(403);
  const client = await overHttp('auto');
  const unknown = await call(client, 'run_status', { run_id: 'no-such-run' });
  expect(unknown).toMatchObject({ isError: true });
  expect(unknown.text).toMatch(/^There is no run "no-such-run" .* Try: list_runs$/);
});

it('serves while Temporal is away: calls name the cure, and work when it is back', async () => {
  const [host = '', port = ''] = stage.address.split(':');
  const sockets = new Set<Socket>();
  let isUp = false;
  let refused = 0;
  const errors: string[] = [];
  const gate = createServer((socket) => {
    socket.on('error', () => {});
    if (!isUp) {
      refused += 1;
      socket.destroy();
      return;
    }
    const server = connect(Number(port), host);
    for (const one of [socket, server]) {
      sockets.add(one);
      one.on('error', () => {}).on('close', () => [socket, server].map((each) => each.destroy()));
    }
    socket.pipe(server).pipe(socket);
  });
  await new Promise<void>((listening) => gate.listen(0, '127.0.0.1', listening));
  const bound = gate.address();
  const address = `127.0.0.1:${typeof bound === 'object' ? bound?.port : 0}`;
  const goDown = (): void => {
    isUp = false;
    for (const socket of sockets) socket.destroy();
  };
  try {
    const client = await overStdio('auto', { address });
    const reaches = async (): Promise<boolean> => {
      const { isError, text } = await call(client, 'list_runs', {});
      if (isError) errors.push(text);
      return !isError;
    };
    expect((await client.listTools()).tools).not.toEqual([]);
    expect(await reaches()).toBe(false);
    expect(refused).toBeGreaterThan(0);
    isUp = true;
    await eventually('a call that reaches the server', reaches);
    goDown();
    expect(await reaches()).toBe(false);
    isUp = true;
    await eventually('a call that reaches the server again', reaches);
    for (const text of errors)
      expect(text).toMatch(/Temporal server.* at 127\.0\.0\.1:\d+[^]*Try: /);
  } finally {
    goDown();
    gate.close();
  }
});

it('runs that a chat starts have agents of the operator, who may be granted the web', async () => {
  const dir = mkdtempSync(join(stage.home, 'agents-'));
  writeFileSync(
    join(dir, 'surfer.md'),
    '---\nname: surfer\ndescription: Searches the web.\ntools: web_research\n---\n\nYou search.\n',
  );
  const asks = { name: 'web_research', input: { question: 'Which release is current?' } };
  stage.rehearsal.script([
    plans(1, plan([work('survey', { agent_id: 'surfer' })])),
    works('survey', { tool_use: [asks] }, 1),
    works('survey', { json: completed('survey-done') }),
  ]);
  const client = await overStdio('auto', { args: ['--agents', dir] });
  const { run_id } = (await call(client, 'start_run', { goal: 'Look it up' })).said;
  const next = async () => (await call(client, 'wait_for_run', { run_id })).said['next'];
  await eventually('the end of the run', async () => (await next()) === 'get_result');
  const { said } = await call(client, 'get_result', { run_id });
  expect(said['text']).toContain('One source was opened.');
});
