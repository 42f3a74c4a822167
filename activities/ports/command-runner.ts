import { messageOf } from '../../core/text/message-of.ts';

/** A command of an agent, checked. */
export interface Command {
  /** Absolute path of the folder that the command may change. */
  readonly folder: string;
  /** The user's folder, which has what git ignores and the command needs: installed packages. Null: `folder` has all. */
  readonly sharedFrom: string | null;
  /** Program and arguments. No shell reads them. */
  readonly argv: readonly string[];
  /** Folder below `folder` in which it starts; empty for `folder` itself. */
  readonly cwd: string;
  readonly stdin: string;
  readonly timeoutMs: number;
  /** Called once when it has started, with a function that returns the end of its output so far. */
  readonly onTail?: ((read: () => string) => void) | undefined;
}

/** The way in which a command ended: by itself, or killed when it reached a limit. */
export type CommandEnding = 'exited' | 'timeout' | 'output' | 'disk' | 'memory';

export interface CommandEnd {
  readonly ending: CommandEnding;
  /** 128 + n after signal n. Null when it was killed at a limit. */
  readonly exit_code: number | null;
  readonly duration_ms: number;
  /** Standard output and standard error as they came. Bytes that are no UTF-8 are replacement characters. */
  readonly output: string;
}

export interface CommandRunner {
  /** False when the operator lets commands run without a sandbox. */
  readonly confined: boolean;

  /**
   * Runs a command to its end. When the promise settles, none of its processes is left.
   *
   * @param signal kills it at once.
   * @throws the reason with which `signal` was aborted.
   * @throws {CommandNotStarted} when the system can't start it.
   */
  run(command: Command, signal: AbortSignal): Promise<CommandEnd>;

  /** Kills what a worker that is gone, or suspended, has left running in a folder. Resolves when it is dead. */
  endLeftovers(folder: string): Promise<void>;
}

/** The system could not start a command: nothing of it has run. */
export class CommandNotStarted extends Error {
  override readonly name = 'CommandNotStarted';

  constructor(cause: unknown) {
    const cure = 'Try: a program that is installed, and a cwd that exists.';
    super(`${messageOf(cause)}: the command was not started. ${cure}`, { cause });
  }
}
