import { Agent, request } from 'node:http';
import { composeText, writeJob } from './bench-job.ts';
import type { BenchJob } from './bench-job.ts';

/** One model call: sends the task and every reply so far, and gives the text that comes back. */
export type ModelCall = (key: string, job: BenchJob, replies: readonly string[]) => Promise<string>;

/** The model as the floor and other engines call it: over kept-alive HTTP, not streamed. */
export interface ModelCaller {
  readonly call: ModelCall;
  close(): void;
}

/** Characters of the first message: as much as the engine sends with a small task, prompt, tools and schema together. */
const promptChars = 11_000;
const prompt = composeText('floor', promptChars);

export function createModelCaller(modelUrl: string): ModelCaller {
  const agent = new Agent({ keepAlive: true, maxSockets: 256, noDelay: true });
  return {
    call: (key, job, replies) => post(modelUrl, agent, bodyOf(key, job, replies)),
    close: () => agent.destroy(),
  };
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
