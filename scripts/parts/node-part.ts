import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ExpectedError } from '../bootstrap/expected-error.mjs';
import { logTail, startPart, type Part } from './part.ts';

export interface NodePartOptions {
  /** Name of the part in messages and of its log file; `scripts/<name>.mjs` exists. */
  readonly name: 'worker' | 'rehearsal';
  readonly env: NodeJS.ProcessEnv;
  /** `PLANWAVE_HOME`; the log is in its `temporal` folder, which leaves the other names to runs. */
  readonly home: string;
}

/** The one message that a part sends to its parent. */
const readyMessage = { type: 'ready' } as const;

/**
 * Starts one of our own scripts as a process and waits until it reports that it is ready.
 *
 * @throws {ExpectedError} with the end of its log, when it ended before that
 */
export async function startNodePart(options: NodePartOptions): Promise<Part> {
  const script = fileURLToPath(new URL(`../${options.name}.mjs`, import.meta.url));
  const part = startPart({
    command: process.execPath,
    args: [script],
    env: options.env,
    logFile: join(options.home, 'temporal', `${options.name}.log`),
    kind: 'node',
  });
  const first = await Promise.race([
    part.firstMessage,
    part.ended.then((how) => ({ type: 'ended', how })),
  ]);
  if (isReadyMessage(first)) return part;
  throw new ExpectedError(
    `The ${options.name} did not start (${await part.ended}). The end of its log (${part.logFile}):\n${logTail(part.logFile)}`,
  );
}

/**
 * Tells the parent that this part is ready, and asks this process to end when the parent is gone. Does nothing when the
 * script was started by hand.
 */
export function announceReady(): void {
  if (process.send === undefined) return;
  if (!process.connected) {
    askSelfToEnd();
    return;
  }
  process.once('disconnect', askSelfToEnd);
  process.send(readyMessage);
}

function askSelfToEnd(): void {
  process.kill(process.pid, 'SIGTERM');
}

function isReadyMessage(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'type' in value &&
    value.type === readyMessage.type
  );
}
