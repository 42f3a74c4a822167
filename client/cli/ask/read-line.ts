import { createInterface } from 'node:readline/promises';
import type { CliIo } from '../cli-io.ts';

/** The user pressed Ctrl-C at a prompt. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

export interface ReadLineOptions {
  /** Takes the prompt back; the result is then `undefined`. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * One line from the user, or `undefined` when there is none: the input ended, or the prompt was taken back.
 * @throws Interrupted at Ctrl-C
 */
export async function readLine(
  io: CliIo,
  prompt: string,
  options: ReadLineOptions = {},
): Promise<string | undefined> {
  const reader = createInterface({
    input: io.stdin,
    output: io.stdout,
    terminal: io.isTerminal,
  });
  const { signal } = options;
  try {
    return await new Promise<string | undefined>((resolve, reject) => {
      // In raw mode Ctrl-C is a key and no signal; without a listener readline would just go quiet.
      reader.once('SIGINT', () => {
        io.stdout.write('\n');
        reject(new Interrupted('interrupted'));
      });
      // `question` never settles when the input ends.
      reader.once('close', () => {
        resolve(undefined);
      });
      const takeBack = (): void => {
        io.stdout.write('\n');
        resolve(undefined);
      };
      if (signal?.aborted === true) resolve(undefined);
      else signal?.addEventListener('abort', takeBack, { once: true });
      reader.question(prompt).then(resolve, reject);
    });
  } finally {
    reader.close();
  }
}
