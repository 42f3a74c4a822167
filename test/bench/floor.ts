import { Agent, request } from 'node:http';
import { composeText, writeJob } from './bench-job.ts';
import type { BenchJob } from './bench-job.ts';
import { decisionJob } from './bench-wave.ts';
import type { BenchWave } from './bench-wave.ts';
import { createPlaces } from './places.ts';

/**
 * The floor that every figure stands on: a plain loop in memory that makes the same model calls of the same server, as
 * many, in the same order and as parallel, with requests about as large, and keeps what comes back in arrays. It
 * checks nothing, records nothing and survives nothing.
 */
export interface Floor {
  /** @returns milliseconds. */
  wave(wave: BenchWave, key: string): Promise<number>;
  close(): void;
}

/** Characters of the first message: as much as the engine sends with a small task, prompt, tools and schema together. */
const promptChars = 11_000;
const prompt = composeText('floor', promptChars);

type Call = (key: string, job: BenchJob, replies: readonly string[]) => Promise<string>;

export function createFloor(modelUrl: string): Floor {
  const agent = new Agent({ keepAlive: true, maxSockets: 256, noDelay: true });
  const call: Call = (key, job, replies) => post(modelUrl, agent, bodyOf(key, job, replies));
  return {
    async wave(wave, key) {
      const startedAt = performance.now();
      await doTasks(wave, (job) => converse(call, key, job));
      await converse(call, key, decisionJob(wave));
      return performance.now() - startedAt;
    },
    close: () => agent.destroy(),
  };
}

async function converse(call: Call, key: string, job: BenchJob): Promise<readonly string[]> {
  const replies: string[] = [];
  while (replies.length < job.turns) {
    // Each call sends what the one before it brought.
    // oxlint-disable-next-line no-await-in-loop
    replies.push(await call(`${key}/${job.id}/${replies.length}`, job, replies));
  }
  return replies;
}

/** Each task begins when those it depends on are done and a place is free. */
async function doTasks(
  { tasks, parallel }: BenchWave,
  work: (job: BenchJob) => Promise<unknown>,
): Promise<void> {
  const inPlace = createPlaces(parallel);
  const done = new Map<string, Promise<unknown>>();
  for (const { job, dependsOn } of tasks) {
    const needed = Promise.all(dependsOn.map((id) => done.get(id) ?? Promise.resolve()));
    done.set(
      job.id,
      needed.then(() => inPlace(() => work(job))),
    );
  }
  await Promise.all(done.values());
}

function bodyOf(key: string, job: BenchJob, replies: readonly string[]): string {
  const content = replies.map((text) => ({ type: 'text', text }));
  return JSON.stringify({
    model: 'rehearsal',
    max_tokens: 16_000,
    metadata: { user_id: key },
    messages: [
      { role: 'user', content: `${prompt}\n${writeJob(job)}` },
      ...(content.length > 0 ? [{ role: 'assistant', content }] : []),
    ],
  });
}

async function post(modelUrl: string, agent: Agent, body: string): Promise<string> {
  const { status, text } = await exchange(modelUrl, agent, body);
  if (status !== 200) throw new Error(`The model server answered ${status}: ${text.slice(0, 200)}`);
  const reply: { content: readonly { text: string }[] } = JSON.parse(text);
  return reply.content[0]?.text ?? '';
}

function exchange(
  modelUrl: string,
  agent: Agent,
  body: string,
): Promise<{ status: number | undefined; text: string }> {
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-api-key': 'rehearsal',
  };
  return new Promise((resolve, reject) => {
    const call = request(`${modelUrl}/v1/messages`, { method: 'POST', agent, headers }, (reply) => {
      let text = '';
      reply.setEncoding('utf8').on('data', (part: string) => (text += part));
      reply.on('error', reject);
      reply.on('end', () => resolve({ status: reply.statusCode, text }));
    });
    call.on('error', reject);
    call.end(body);
  });
}
