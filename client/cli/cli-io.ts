import type { Readable, Writable } from 'node:stream';
import { createInterface } from 'node:readline/promises';
import { badInput } from './cli-error.ts';

/** Everything the command line reads and writes, so that tests and other programs can drive it. */
export interface CliIo {
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly stdin: Readable;
  /** True when a person uses the terminal: questions may be asked and output may be redrawn. */
  readonly isTerminal: boolean;
  readonly colour: boolean;
  /** Returns the width of the terminal now. If undefined: unlimited. */
  readonly columns?: (() => number | undefined) | undefined;
  /** Calls `handler` at Ctrl-C instead of ending the process. Returns a function that undoes it. */
  readonly onInterrupt: (handler: () => void) => () => void;
}

export function createProcessIo(): CliIo {
  const { stdout, stderr, stdin, env } = process;
  // A reader that closes early, such as `head`, is no failure.
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });
  const isTerminal = stdout.isTTY && stdin.isTTY && env['TERM'] !== 'dumb';
  return {
    stdout,
    stderr,
    stdin,
    isTerminal,
    // A terminal without a size says 0.
    columns: () => stdout.columns || undefined,
    colour: isTerminal && (env['NO_COLOR'] ?? '') === '',
    onInterrupt: (handler) => {
      process.on('SIGINT', handler);
      return () => {
        process.off('SIGINT', handler);
      };
    },
  };
}

/**
 * Reads everything from standard input as UTF-8.
 *
 * @throws CliError for other bytes: replacing them silently would change the meaning.
 */
export async function readAll(stdin: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stdin as AsyncIterable<Buffer | string>) {
    chunks.push(Buffer.from(chunk));
  }
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    return decoder.decode(Buffer.concat(chunks));
  } catch {
    throw badInput('Standard input is not UTF-8. Try: iconv -t UTF-8');
  }
}

/** Thrown when the user pressed Ctrl-C at a prompt. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

export interface ReadLineOptions {
  /** Withdraws the prompt; the result is then `undefined`. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads one line from the user. Returns `undefined` when there is none: the input ended, or the prompt was withdrawn.
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
      // Ctrl-C is a key and no signal in raw mode; without a listener readline would simply go quiet.
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

/**
 * Asks for a yes or a no. Everything but a yes is a no.
 * @throws Interrupted at Ctrl-C
 */
export async function confirm(io: CliIo, question: string): Promise<boolean> {
  const typed = await readLine(io, `${question} (yes or no; Enter alone: no)\n> `);
  return /^y(?:es)?$/i.test(typed?.trim() ?? '');
}
