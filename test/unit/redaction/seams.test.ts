import { Writable } from 'node:stream';
import { ApplicationFailure, defaultPayloadConverter } from '@temporalio/common';
import type {
  ModelClient,
  ModelProgress,
  ModelReply,
} from '../../../activities/ports/model-client.ts';
import type { ProjectionWriter } from '../../../activities/ports/projection-writer.ts';
import type { ThreadStore } from '../../../activities/ports/thread-store.ts';
import {
  redactFailure,
  redactEffects,
  redactLedger,
  redactMiddlewares,
  redactProjection,
  redactStore,
  redactThreads,
  redactTools,
} from '../../../activities/redaction/redact-ports.ts';
import { redactModel } from '../../../activities/redaction/redact-model.ts';
import type { Middleware } from '../../../activities/ports/middleware.ts';
import type { ActingTool, ReadingTool, ReadContext } from '../../../activities/tools/tool.ts';
import { loadDetail } from '../../../activities/tools/registry/load-detail.ts';
import { createRedactingCodec } from '../../../redaction/redacting-codec.ts';
import { createRedactor } from '../../../redaction/create-redactor.ts';
import { redactOutput } from '../../../worker/create-logger.ts';
import { createMemoryEffects } from '../../support/memory-effects.ts';
import { createMemoryLedger } from '../../support/memory-ledger.ts';
import { createMemoryStore } from '../../support/memory-store.ts';
import { entry, kept } from '../../support/thread-entries.ts';
import { planted, plantedPieces, plantedText as everything } from '../../support/planted.ts';

/** Checks behind each seam what it lets through. test/architecture/seams.test.ts lists the seams. */

let counted: [rule: string, sink: string, count: number][] = [];
beforeEach(() => {
  counted = [];
});

const redactor = createRedactor({
  secrets: [planted.own],
  onRedacted: (...told) => counted.push(told),
});

function expectClean(written: unknown): void {
  const text = typeof written === 'string' ? written : JSON.stringify(written);
  expect(text).toContain('[redacted:github]');
  expect(plantedPieces.filter((piece) => text.includes(piece))).toEqual([]);
}

const sinks = (): string[] => [...new Set(counted.map(([, sink]) => sink))];

it('an artifact holds no secret, is addressed by what it holds, and is the same on a retry', async () => {
  const memory = createMemoryStore();
  const store = redactStore(memory, redactor);
  const ref = await store.put(everything);
  expectClean(await memory.getText(ref));
  expect(await store.put(Buffer.from(everything))).toBe(ref);
  expect(sinks()).toEqual(['artifact']);
  expect(await store.put(await store.getText(ref))).toBe(ref);
  const bytes = Uint8Array.of(0xff, 0xfe, 0x00);
  expect(await store.get(await store.put(bytes))).toEqual(bytes);
  expect(await store.has(ref)).toBe(true);
});

it('the ledger gives a retry what it kept, without secrets', async () => {
  const ledger = redactLedger(createMemoryLedger(), redactor);
  const key = { workflow_id: 'w', run_id: 'r', activity_id: '1' };
  await ledger.put(key, 1, { result: { text: everything }, spent: { calls: 1 } });
  const [found] = await ledger.find(key);
  expectClean(found);
  expect(found).toMatchObject({ spent: { calls: 1 } });
  expect(sinks()).toEqual(['ledger']);
});

it('the projection shows no secret', async () => {
  const files: string[] = [];
  const writer: ProjectionWriter = {
    write: async (_run, _path, text) => void files.push(text),
    remove: async () => {},
    rootOf: (runId) => runId,
  };
  await redactProjection(writer, redactor).write('run', 'result.md', everything);
  expectClean(files[0]);
  expect(sinks()).toEqual(['projection']);
});

it('a thread keeps no secret, and one whose name holds a secret is found again', async () => {
  const asked: unknown[] = [];
  const threads: ThreadStore = {
    load: async (...told) => {
      asked.push(told);
      return { messages: [], delegations: [], unreadable: 0 };
    },
    append: async (told) => void asked.push(told),
    search: async (...told) => {
      asked.push(told);
      return { delegations: [], unreadable: 0 };
    },
    list: async (told) => {
      asked.push(told);
      return { threads: [], total: 0 };
    },
    read: async (...told) => {
      asked.push(told);
      return { entries: [], total: 0, unreadable: 0 };
    },
    count: async (told) => {
      asked.push(told);
      return { threads: 0, entries: 0, delegations: 0 };
    },
    remove: async (told) => {
      asked.push(told);
      return { threads: 0, entries: 0, delegations: 0 };
    },
    close: async () => {},
  };
  const redacted = redactThreads(threads, redactor);
  const thread_id = `thread ${planted.github}`;
  const run_id = `run ${planted.github}`;
  await redacted.append(
    entry({
      thread_id,
      run_id,
      message: everything,
      answer: everything,
      delegations: [kept('d1', { task: everything, result: everything })],
    }),
  );
  await redacted.load(thread_id, { messages: 1, delegations: 1, exceptRun: run_id });
  await redacted.search(thread_id, 'tea', { limit: 1, exceptRun: run_id });
  await redacted.list({ limit: 1, userId: thread_id });
  await redacted.read(thread_id, 1);
  await redacted.count({ user_id: thread_id });
  await redacted.remove({ thread_id });
  for (const told of asked) expectClean(told);
  const names = { thread_id: 'thread [redacted:github]', run_id: 'run [redacted:github]' };
  expect(asked).toEqual([
    expect.objectContaining(names),
    [names.thread_id, { messages: 1, delegations: 1, exceptRun: names.run_id }],
    [names.thread_id, 'tea', { limit: 1, exceptRun: names.run_id }],
    { limit: 1, userId: names.thread_id },
    [names.thread_id, 1],
    { user_id: names.thread_id },
    { thread_id: names.thread_id },
  ]);
  expect(sinks()).toEqual(['thread']);
});

const aReply: ModelReply = {
  content: [],
  stopReason: 'end_turn',
  tokens: null,
  requestId: null,
  model: 'rehearsal',
};

/** Returns the redacted reply of a model that streamed these pieces before. */
async function hear(
  content: ModelReply['content'],
  stream: readonly string[] = [],
): Promise<{ readonly reply: ModelReply; readonly progress: readonly ModelProgress[] }> {
  let tail = '';
  let nowMs = 0;
  const model: ModelClient = {
    complete: async (_request, { onProgress }) => {
      for (const piece of stream) {
        tail += piece;
        nowMs += 1_000;
        onProgress({ outputTokens: tail.length, lastWords: tail.slice(-8_000) });
      }
      return { ...aReply, content };
    },
  };
  const progress: ModelProgress[] = [];
  const request = { model: 'm', maxOutputTokens: 1, system: [], messages: [], tools: [] };
  const reply = await redactModel(model, redactor, () => nowMs).complete(
    { ...request, callKey: 'k' },
    { signal: AbortSignal.timeout(60_000), onProgress: (told) => progress.push(told) },
  );
  return { reply, progress };
}

it('a reply is redacted as it comes, and JSON in it stays JSON', async () => {
  const output = { compact_md: `_authToken=${planted.own}`, detailed_md: everything, n: 1 };
  const { reply } = await hear([
    { type: 'text', text: JSON.stringify(output) },
    { type: 'tool_use', id: 't1', name: 'load_detail', input: { detail_id: planted.github } },
  ]);
  const [text, call] = reply.content;
  const read: unknown = JSON.parse(text?.type === 'text' ? text.text : '');
  expectClean(read);
  expect(read).toMatchObject({ n: 1 });
  expect(call).toMatchObject({ id: 't1', input: { detail_id: '[redacted:github]' } });
  // In a transcript the reply is JSON in a string of JSON: nothing more is taken out of it there.
  counted = [];
  const node = JSON.stringify({ messages: [{ role: 'assistant', content: reply.content }] });
  expect(redactor.redactText(node, 'artifact')).toBe(node);
  expect(counted).toEqual([]);
});

it('a block that only the provider can read is left out when it holds a secret, never changed', async () => {
  const harmless = { type: 'opaque', raw: { thinking: 'about tea', signature: 's1' } } as const;
  const { reply } = await hear([
    harmless,
    { type: 'opaque', raw: { thinking: `about ${planted.github}`, signature: 's2' } },
  ]);
  expect(reply.content).toEqual([harmless]);
});

it('the last words of a stream show no secret, whole or in part', async () => {
  // Character by character, as the worst of all streams.
  const text = `The keys are: ${planted.github} and ${planted.own}.\n${planted.privateKey}\nThat is all of it.`;
  const { progress } = await hear([], text.split(''));
  const shown = progress.map(({ lastWords }) => lastWords);
  expect(shown.at(-1)).toContain('[redacted:privatekey]\nThat is all of');
  expect(shown.every(({ length }) => length <= 120)).toBe(true);
  const parts = plantedPieces.map((piece) => piece.slice(0, 12));
  expect(shown.filter((words) => parts.some((part) => words.includes(part)))).toEqual([]);
  // Of a line within the key, neither.
  const line = planted.privateKey.split('\n')[3]?.slice(20, 36) ?? '';
  expect(shown.filter((words) => words.includes(line))).toEqual([]);
});

const toolContext: ReadContext = {
  store: createMemoryStore(),
  run_id: 'my-run',
  delegation_id: 'task',
  builds_on: [],
  record_ref: '',
  upstream: [],
  loads_left: 1,
  listAddresses: async () => [],
  onLoaded: () => {},
  signal: AbortSignal.timeout(60_000),
};

/** Runs a tool that returns or fails, and reads the text behind the seam. */
async function runTool(run: ReadingTool['run']): Promise<string | undefined> {
  const tool: ReadingTool = {
    spec: loadDetail.spec,
    effect: 'read',
    brings: [],
    offeredTo: ['agents'],
    run,
  };
  const [redacted] = redactTools(new Map([['t', tool]]), redactor).values();
  if (redacted?.effect !== 'read') throw new Error('another tool');
  return redacted.run({}, toolContext).catch((error: unknown) => String(error));
}

it('a tool that acts says no secret either, and the ledger of its effects keeps none', async () => {
  const tool: ActingTool = {
    spec: loadDetail.spec,
    effect: 'acting',
    brings: [],
    offeredTo: ['agents'],
    approval: 'never',
    targetOf: () => 'a.md',
    look: async () => everything,
    act: (_input, { onTail }) => {
      onTail?.(() => everything);
      return Promise.reject(new Error(everything));
    },
    check: async () => ({ type: 'unknown', found: everything }),
  };
  const [redacted] = redactTools(new Map([['t', tool]]), redactor).values();
  if (redacted?.effect !== 'acting') throw new Error('another tool');
  expectClean(await redacted.look({}, toolContext));
  const tails: string[] = [];
  const acting = {
    ...toolContext,
    before: '',
    mayStill: async () => {},
    onTail: (read: () => string) => void tails.push(read()),
  };
  expectClean(await redacted.act({}, acting).catch(String));
  expect(tails).toHaveLength(1);
  expectClean(tails.join(''));
  expectClean(JSON.stringify(await redacted.check({}, '', acting)));
  const ledger = createMemoryEffects();
  await redactEffects(ledger, redactor).put('k', { type: 'failed', reason: everything }, 0);
  expectClean(JSON.stringify(ledger.history));
  expect(new Set(sinks())).toEqual(new Set(['tool', 'failure', 'ledger']));
});

it('a tool says no secret, neither in its result nor in an error', async () => {
  expectClean(await runTool(async () => everything));
  expectClean(await runTool(() => Promise.reject(new Error(everything))));
  expect(sinks()).toEqual(['tool', 'failure']);
});

function runMiddleware(apply: Middleware['apply']) {
  const own: Middleware = { name: 'own', kind: 'guardrail', stages: ['input'], apply };
  const [redacted] = redactMiddlewares(new Map([['own', own]]), redactor).values();
  const { signal } = new AbortController();
  return redacted?.apply('', { stage: 'input', run_id: 'r', delegation_id: 'd', signal });
}

it('a middleware says no secret, neither in its verdict nor in an error', async () => {
  expectClean(await runMiddleware(() => ({ type: 'pass', text: everything, note: everything })));
  expectClean(await runMiddleware(async () => ({ type: 'ask', reason: everything })));
  expect(sinks()).toEqual(['middleware']);
  const thrown: unknown = await Promise.resolve(
    runMiddleware(() => Promise.reject(new Error(everything))),
  ).catch((error: unknown) => error);
  expectClean(String(thrown));
});

it('a failure holds no secret: not in its text, its stack, or its causes', () => {
  const root = new Error(`cause: ${everything}`);
  const failure = ApplicationFailure.create({
    type: 'ModelRequest',
    message: `refused: ${everything}`,
    nonRetryable: true,
    cause: new Error('between', { cause: root }),
  });
  expect(redactFailure(failure, redactor)).toBe(failure);
  expect(failure).toMatchObject({ type: 'ModelRequest', nonRetryable: true });
  for (const error of [failure, root]) {
    expectClean(error.message);
    expectClean(error.stack);
  }
  expectClean(redactFailure(everything, redactor));
  const ring = new Error('a');
  ring.cause = ring;
  expect(redactFailure(ring, redactor)).toBe(ring);
});

it('a payload goes to the server without secrets, and comes back as it was', async () => {
  const codec = createRedactingCodec(redactor, 'history');
  const payloads = [{ goal: everything, n: 1 }, everything, ['short'], null, undefined, 7].map(
    (value) => defaultPayloadConverter.toPayload(value),
  );
  const sent = await codec.encode(payloads);
  const values = sent.map((one): unknown => defaultPayloadConverter.fromPayload(one));
  expectClean(values[0]);
  expectClean(values[1]);
  expect(values.slice(2)).toEqual([['short'], null, undefined, 7]);
  expect(values[0]).toMatchObject({ n: 1 });
  expect(await codec.decode(payloads)).toEqual(payloads);
});

/** Redacts a stream and returns it with all that it printed. */
function openStream(): { stream: Writable; printed: () => string; flush: () => void } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      done();
    },
  });
  const flush = redactOutput(stream, redactor);
  return { stream, printed: () => Buffer.concat(chunks).toString(), flush };
}

describe('what a process prints', () => {
  it('shows no secret', () => {
    const { stream, printed, flush } = openStream();
    stream.write(`[WARN] ${everything}\n`);
    stream.write(Buffer.from(everything));
    flush();
    expectClean(printed());
    expect(printed().match(/\[redacted:github\]/g)).toHaveLength(2);
  });

  it('finding T12: shows no secret that comes in several writes', () => {
    const { stream, printed, flush } = openStream();
    const bytes = Buffer.from(`ä ${planted.github}\nlast`);
    for (const byte of bytes) stream.write(Buffer.from([byte]));
    flush();
    expect(printed()).toBe('ä [redacted:github]\nlast');
  });
});
