import { spawn, type ChildProcess } from 'node:child_process';
import {
  type FetchLike,
  deserializeMessage,
  serializeMessage,
  type JSONRPCMessage,
  type Transport,
} from '@modelcontextprotocol/client';
import { cleanLine, cutEnd, cutStart } from '../../../core/text/cut-text.ts';
import type { McpStdio } from '../../ports/mcp-servers.ts';
import {
  bindSystem,
  bindToolchain,
  commandEnvironment,
  ownToolchain,
} from '../sandbox/bubblewrap.ts';
import { messageOf } from '../../../core/text/message-of.ts';

/** Program and arguments that start a server. */
interface ServerCall {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Returns the call of `bwrap` for a server: no file but the system's programs, the worker's toolchain and the paths of its
 * entry, no process of the machine, and a network only if its entry has one. It ends with the worker.
 */
function sandboxCall({ command, args, env, sandbox }: McpStdio): ServerCall {
  const { network = false, read = [], write = [] } = sandbox ?? {};
  const toolchains = ownToolchain();
  return {
    command: 'bwrap',
    args: [
      ...'--unshare-user --unshare-all --disable-userns --die-with-parent --new-session'.split(' '),
      ...(network ? ['--share-net', '--ro-bind-try', '/etc/resolv.conf', '/etc/resolv.conf'] : []),
      ...'--cap-drop ALL'.split(' '),
      ...bindSystem(),
      ...'--proc /proc --dev /dev --tmpfs /tmp --dir /tmp/home'.split(' '),
      ...toolchains.flatMap(bindToolchain),
      ...read.flatMap((path) => ['--ro-bind', path, path]),
      ...write.flatMap((path) => ['--bind', path, path]),
      '--chdir',
      '/tmp',
      '--',
      command,
      ...args,
    ],
    env: { ...commandEnvironment(toolchains, '/tmp/home'), ...env },
  };
}

/** Most bytes of one response. */
export const responseBytesMax = 10_000_000;

/**
 * Creates a `fetch` for a server: responses are bounded, and redirects are refused, because they would carry headers and
 * arguments to a place that the operator did not name.
 *
 * @param onBroken Called when a response to a message can't be read to its end: the client would wait for it.
 */
export function createLimitedFetch(onBroken: (reason: string) => void): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, { ...init, redirect: 'manual' });
    if (response.status >= 300 && response.status < 400 && response.headers.has('location')) {
      await response.body?.cancel();
      const reason = 'it redirects, which is refused. Try: the final address as url';
      onBroken(reason);
      throw new Error(reason);
    }
    // A stream that only listens may end at any time, and one that the client itself ends is not waited for.
    const isWaitedFor = (): boolean => init?.method === 'POST' && init.signal?.aborted !== true;
    return limitBody(response, (reason) => {
      if (isWaitedFor()) onBroken(reason);
    });
  };
}

/** Ends the body once it is too long. What was read until then is all that takes memory. */
function limitBody(response: Response, onBroken: (reason: string) => void): Response {
  if (response.body === null) return response;
  const reader = response.body.getReader();
  let bytes = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        bytes += value.byteLength;
        if (bytes > responseBytesMax)
          throw new Error(`it sent more than ${responseBytesMax} bytes at once`);
        controller.enqueue(value);
      } catch (error) {
        const reason = messageOf(error);
        onBroken(reason);
        await reader.cancel().catch(() => {});
        controller.error(new Error(reason));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}

/** Longest message of a server, in bytes. */
export const messageBytesMax = 10_000_000;

/** Milliseconds that a server has to end by itself once its input is closed, and then after SIGTERM. */
const endMs = 500;

/** Milliseconds in which the last words of a server are read, when a process that it left behind holds its output open. */
const lastWordsMs = 1_000;

/** Characters of a server's error output that are kept, its end. */
const saidCharsMax = 4_000;

/** Characters of it that are shown: the newest, because a program that fails says the cause last. */
const shownCharsMax = 500;

/** Characters of why a server failed, without what it said. */
export const faultCharsMax = 600;

/**
 * Makes one line of a server's words and cuts it at the end of a word: it is redacted later, and half a secret is not known
 * for one.
 */
export function shortenLine(text: string, charsMax: number): string {
  return cutEnd(cleanLine(cutEnd(text, charsMax * 4), charsMax * 4), charsMax);
}

/** Variables of the worker that a server gets: programs need them, and none is a key. */
const inherited = ['HOME', 'LANG', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'USER'];

/**
 * Transport to a server that is a process of this worker. It has a group of its own, which is killed as a whole: behind
 * `npx` or `sh -c` the server would survive its starter, and its pipe would keep the worker alive.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #server: McpStdio;
  #child: ChildProcess | null = null;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #said = '';
  #fault: string | null = null;
  #ended: Promise<void> = Promise.resolve();

  constructor(server: McpStdio) {
    this.#server = server;
  }

  /** Says why the server ended, or the given words while it lives, and what it wrote to its error output. */
  explain(otherwise: string): string {
    const kept = cleanLine(cutStart(this.#said, saidCharsMax), saidCharsMax);
    const said = cutStart(kept, shownCharsMax);
    const end = shortenLine(this.#fault ?? otherwise, faultCharsMax);
    return said === '' ? end : `${end}; it said: ${said}`;
  }

  /** Process id of the server, or of the program that started it. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  start(): Promise<void> {
    const { command, args, env, sandbox } = this.#server;
    const own = Object.fromEntries(inherited.map((name) => [name, process.env[name]]));
    const call =
      sandbox === null ? { command, args, env: { ...own, ...env } } : sandboxCall(this.#server);
    const child = spawn(call.command, [...call.args], {
      env: call.env,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#fault ??=
          signal === null ? `it ended with the code ${code}` : `it was killed (${signal})`;
        // Processes that it left behind would hold its output open.
        killGroup(child, 'SIGKILL');
        const end = (): void => {
          clearTimeout(late);
          resolve();
          this.#close();
        };
        // Its last words may come after its end. What has come is read before a timer that is late on a busy machine.
        const late = setTimeout(() => setImmediate(end), lastWordsMs);
        child.once('close', end);
      });
    });
    child.stdin.on('error', (error) => this.onerror?.(error));
    // An output that is not read stops the server once its pipe is full.
    child.stderr.on('data', (chunk: Buffer) => {
      // One more than is used shows that something was cut.
      this.#said = (this.#said + chunk.toString('utf8')).slice(-saidCharsMax - 1);
    });
    child.stdout.on('data', (chunk: Buffer) => this.#take(chunk));
    return new Promise((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error) => {
        this.#fault ??= error.message;
        reject(error);
      });
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin === null || stdin === undefined || !stdin.writable) {
      throw new Error(`Not connected: ${this.explain('it ended')}`);
    }
    const error = await new Promise<Error | null | undefined>((resolve) => {
      stdin.write(serializeMessage(message), resolve);
    });
    if (!error) return;
    // A server that no longer reads has mostly ended, and how it ended says more than the broken pipe.
    await this.#endsWithin(endMs);
    throw error;
  }

  /** Closes its input, then ends it, then kills its group. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child === null || child.pid === undefined) return;
    child.stdin?.end();
    if (!(await this.#endsWithin(endMs))) {
      killGroup(child, 'SIGTERM');
      if (!(await this.#endsWithin(endMs))) killGroup(child, 'SIGKILL');
    }
    await this.#ended;
    this.#close();
  }

  async #endsWithin(ms: number): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), ms);
    });
    const hasEnded = await Promise.race([this.#ended.then(() => true), late]);
    clearTimeout(timer);
    return hasEnded;
  }

  #close(): void {
    const child = this.#child;
    if (child === null) return;
    this.#child = null;
    this.#chunks = [];
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
    this.onclose?.();
  }

  /** Reads messages, one a line. A line that is none is noise: programs print to their output. */
  #take(chunk: Buffer): void {
    let rest = chunk;
    for (let at = rest.indexOf(10); at >= 0; at = rest.indexOf(10)) {
      const line = Buffer.concat([...this.#chunks, rest.subarray(0, at)]).toString('utf8');
      this.#chunks = [];
      this.#bytes = 0;
      rest = rest.subarray(at + 1);
      const message = readMessage(line);
      if (message !== null) this.onmessage?.(message);
    }
    this.#chunks.push(rest);
    this.#bytes += rest.byteLength;
    if (this.#bytes <= messageBytesMax) return;
    this.#fault ??= `it sent a message of more than ${messageBytesMax} bytes`;
    this.#chunks = [];
    if (this.#child !== null) killGroup(this.#child, 'SIGKILL');
  }
}

function readMessage(line: string): JSONRPCMessage | null {
  // Most noise is recognised without an error.
  if (!line.trimStart().startsWith('{')) return null;
  try {
    return deserializeMessage(line);
  } catch {
    return null;
  }
}

function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // No process of the group is left.
  }
}
