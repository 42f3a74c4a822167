import { PassThrough, Writable } from 'node:stream';
import type { CliIo } from '../../../../client/cli/cli-io.ts';

export interface FakeIo extends CliIo {
  readonly stdin: PassThrough;
  out(): string;
  err(): string;
  /** Presses Ctrl-C. What begins to listen later hears it too, if nothing listens yet. */
  interrupt(): void;
  /** Types a line once `prompt` has been shown after everything that was typed before. */
  typeAfter(prompt: string, line: string): void;
}

/** A terminal, or a pair of pipes, that a test reads and writes. */
export function createFakeIo(options: { readonly isTerminal?: boolean } = {}): FakeIo {
  const stdin = new PassThrough();
  const handlers = new Set<() => void>();
  let isUnheard = false;
  const typing: { prompt: string; line: string }[] = [];
  let [out, err, seen] = ['', '', 0];
  const typeNext = (): void => {
    const [next] = typing;
    if (next === undefined) return;
    const at = out.indexOf(next.prompt, seen);
    if (at === -1) return;
    typing.shift();
    seen = at + next.prompt.length;
    setImmediate(() => {
      // As one key: readline would measure a long line anew at each of its characters.
      const isTyped = stdin.emit('keypress', next.line);
      stdin.write(isTyped ? '\n' : `${next.line}\n`);
    });
  };
  return {
    stdin,
    stdout: collect((text) => {
      out += text;
      typeNext();
    }),
    stderr: collect((text) => {
      err += text;
    }),
    isTerminal: options.isTerminal ?? false,
    colour: false,
    onInterrupt: (handler) => {
      handlers.add(handler);
      if (isUnheard) setImmediate(handler);
      isUnheard = false;
      return () => handlers.delete(handler);
    },
    out: () => out,
    err: () => err,
    interrupt: () => {
      isUnheard = handlers.size === 0;
      for (const handler of handlers) handler();
    },
    typeAfter: (prompt, line) => {
      typing.push({ prompt, line });
      typeNext();
    },
  };
}

function collect(add: (text: string) => void): Writable {
  return new Writable({
    decodeStrings: false,
    write: (chunk: string | Buffer, _encoding, done) => {
      add(chunk.toString());
      done();
    },
  });
}
