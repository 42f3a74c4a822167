import { ActivityCancellationDetails } from '@temporalio/common';
import type { MockActivityEnvironment } from '@temporalio/testing';
import { createAnthropicClient } from '../../../activities/adapters/anthropic/anthropic-client.ts';
import { ModelAborted } from '../../../activities/ports/model-client.ts';
import { redactModel } from '../../../activities/redaction/redact-model.ts';
import type { TurnReply } from '../../../contracts/model-turn.ts';
import { createRedactor } from '../../../redaction/create-redactor.ts';
import { startRehearsalServer } from '../../../rehearsal/server/server.ts';
import { planted, plantedPieces } from '../../support/planted.ts';
import { createScriptedModel } from '../../support/scripted-model.ts';
import type { Script } from '../../support/scripted-model.ts';
import { createBench, outputOf, runIn } from './bench.ts';
import type { Bench } from './bench.ts';
import type { TurnProgress } from '../../../contracts/views.ts';

const redactor = createRedactor({ secrets: [planted.own] });

const report = `# Report\n\n${'A line of the report. '.repeat(40)}`;
const json = JSON.stringify(outputOf({ compact_md: 'Short form.', detailed_md: report }));

/** Streams these pieces, and then nothing until the call is aborted. */
const stream =
  (pieces: readonly string[]): Script =>
  (request, { signal, onProgress }) => {
    let lastWords = '';
    for (const text of pieces) {
      lastWords = (lastWords + text).slice(-8_000);
      onProgress({ outputTokens: 1, lastWords, arrived: { block: 0, kind: 'text', text } });
    }
    return new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new ModelAborted(request.model, null)), {
        once: true,
      });
    });
  };

/** A turn that is cancelled as soon as a heartbeat shows that the stream is there. */
async function cancelTurn(
  bench: Bench,
  ...how: Parameters<MockActivityEnvironment['cancel']>
): Promise<TurnReply> {
  const env = bench.env();
  env.on('heartbeat', ({ last_words }: TurnProgress) => {
    if (last_words !== '') env.cancel(...how);
  });
  const { reply } = await runIn(env, bench.activities.modelTurn, bench.input());
  return reply;
}

const benchThatStreams = (pieces: readonly string[]): Promise<Bench> =>
  createBench({
    deps: { model: redactModel(createScriptedModel([stream(pieces)]), redactor) },
  });

async function wordsOf(bench: Bench, reply: TurnReply): Promise<string> {
  if (reply.type !== 'aborted' || reply.words_ref === undefined) {
    throw new Error(JSON.stringify(reply));
  }
  return bench.store.getText(reply.words_ref);
}

describe('what had arrived of a call that is cancelled', () => {
  it('is kept as people read it, without the JSON and without the word that was being written', async () => {
    const bench = await benchThatStreams([json.slice(0, 600), json.slice(600, 615)]);
    const words = await wordsOf(bench, await cancelTurn(bench));
    expect(words).toMatch(/^# Report\n\nA line of the report\./);
    expect(report.startsWith(words)).toBe(true);
  });

  it('is kept as it came where nobody could read it, and at most 8,000 characters', async () => {
    const bench = await benchThatStreams([
      `{"status":"completed","facts":["${'a fact '.repeat(2_000)}`,
    ]);
    const words = await wordsOf(bench, await cancelTurn(bench));
    expect(words).toMatch(/^ ?(?:a )?fact a fact/);
    expect(words.length).toBeLessThanOrEqual(8_000);
    expect(words.length).toBeGreaterThan(7_900);
  });

  it('holds no secret, whole or in part', async () => {
    const text = JSON.stringify({
      compact_md: `${planted.github} and ${planted.privateKey.slice(0, 300)}`,
    });
    const bench = await benchThatStreams([text.slice(0, -2)]);
    const words = await wordsOf(bench, await cancelTurn(bench));
    expect(words).toContain('[redacted:github] and');
    const parts = plantedPieces.map((piece) => piece.slice(0, 12));
    expect(parts.filter((part) => words.includes(part))).toEqual([]);
  });

  it('is nothing when nothing had arrived', async () => {
    const bench = await benchThatStreams(['{"compact_md"']);
    const env = bench.env();
    const turn = runIn(env, bench.activities.modelTurn, bench.input());
    env.cancel();
    expect((await turn).reply).toEqual({ type: 'aborted' });
  });

  it('is not kept when the worker ends: another one makes the call again', async () => {
    const bench = await benchThatStreams([json]);
    const before = new Set(bench.store.artifacts.keys());
    const details = new ActivityCancellationDetails({ workerShutdown: true });
    await expect(cancelTurn(bench, 'WORKER_SHUTDOWN', details)).rejects.toMatchObject({
      type: 'ModelUnavailable',
    });
    const added = [...bench.store.artifacts.keys()].filter((ref) => !before.has(ref));
    const texts = await Promise.all(added.map((ref) => bench.store.getText(ref)));
    expect(texts.filter((text) => text.startsWith('Short form.'))).toEqual([]);
  });
});

it('a call of the real SDK that is cut by cancellation closes its socket and leaves its words', async () => {
  const server = await startRehearsalServer({ port: 0, thinkMs: 0 });
  try {
    server.script([{ reply: { text: json, thinkMs: 30_000 } }]);
    const client = createAnthropicClient({ apiKey: 'sk-test', baseUrl: server.url });
    const bench = await createBench({ deps: { model: redactModel(client, redactor) } });
    const words = await wordsOf(bench, await cancelTurn(bench));
    expect(words.length).toBeGreaterThan(0);
    expect(report.startsWith(words)).toBe(true);
    const [call] = await server.waitForCalls(1, 'ended');
    expect(call).toMatchObject({ rule: 0, outcome: 'client-closed' });
  } finally {
    await server.close();
  }
});

it('a heartbeat tells what people read of a call, by its end and by how much there is', async () => {
  const bench = await benchThatStreams([json.slice(0, 900)]);
  const env = bench.env();
  const seen: TurnProgress[] = [];
  env.on('heartbeat', (progress: TurnProgress) => {
    seen.push(progress);
    if (progress.text !== undefined) env.cancel();
  });
  await runIn(env, bench.activities.modelTurn, bench.input());
  const { text = '', text_chars } = seen.at(-1) ?? {};
  expect(report.startsWith(text)).toBe(true);
  expect(text_chars).toBe(text.length);
  expect(text.length).toBeGreaterThan(400);
});
