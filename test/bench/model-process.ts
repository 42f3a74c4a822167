import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ModelMessage, ModelReading } from './model-messages.ts';

const script = fileURLToPath(new URL('./model-server.ts', import.meta.url));

/** The model server, in a process of its own. */
export interface ModelProcess {
  readonly url: string;
  read(): Promise<ModelReading>;
  stop(): Promise<void>;
}

export async function startModelProcess(): Promise<ModelProcess> {
  const child = fork(script, [], { execArgv: ['--import', import.meta.resolve('tsx')] });
  const ended = once(child, 'exit');
  const next = async (): Promise<ModelMessage> => {
    const first: unknown[] = await Promise.race([once(child, 'message'), ended]);
    const [message] = first;
    if (isModelMessage(message)) return message;
    throw new Error(`The model server ended (${first.join(', ')}).`);
  };
  const ready = await next();
  if (ready.type !== 'ready') throw new Error('The model server did not say where it listens.');
  return {
    url: ready.url,
    async read() {
      const answer = next();
      child.send('read');
      const message = await answer;
      if (message.type !== 'reading') throw new Error('The model server gave no reading.');
      return message;
    },
    async stop() {
      child.disconnect();
      await ended;
    },
  };
}

function isModelMessage(value: unknown): value is ModelMessage {
  return typeof value === 'object' && value !== null && 'type' in value;
}
