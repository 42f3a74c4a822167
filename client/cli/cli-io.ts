import type { Readable, Writable } from 'node:stream';

/** Everything the command line reads and writes, so that tests and other programs can drive it. */
export interface CliIo {
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly stdin: Readable;
  /** A person sits there: questions may be asked and output may be redrawn. */
  readonly isTerminal: boolean;
  readonly colour: boolean;
  /** Calls `handler` at Ctrl-C instead of ending the process. Returns a function that undoes it. */
  readonly onInterrupt: (handler: () => void) => () => void;
}

/** The IO of this process. */
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
    colour: isTerminal && (env['NO_COLOR'] ?? '') === '',
    onInterrupt: (handler) => {
      process.on('SIGINT', handler);
      return () => {
        process.off('SIGINT', handler);
      };
    },
  };
}
