import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { ModelMessage, ModelReading, ModelRequest } from './model-messages.ts';

const script = fileURLToPath(new URL('./model-server.ts', import.meta.url));

/** The model server, in a process of its own. */
export interface ModelProcess {
  readonly url: string;
  read(): Promise<ModelReading>;
  /** Lets readings hold what was sent from here on. */
  keepBodies(): Promise<void>;
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
  const ask = async (what: ModelRequest): Promise<ModelReading> => {
    const answer = next();
    child.send(what);
    const message = await answer;
    if (message.type !== 'reading') throw new Error('The model server gave no reading.');
    return message;
  };
  return {
    url: ready.url,
    read: () => ask('read'),
    async keepBodies() {
      await ask('keep bodies');
    },
    async stop() {
      // A Ctrl-C may have ended it already.
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}

function isModelMessage(value: unknown): value is ModelMessage {
  return typeof value === 'object' && value !== null && 'type' in value;
}
