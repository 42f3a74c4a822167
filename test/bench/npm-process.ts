import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { root } from '../../scripts/bootstrap/hand-over.mjs';
import { neutralEnvironment } from '../support/worker-process.ts';

/** An npm command with all that it starts. */
export interface NpmProcess {
  /** Rejects with its output when it ends by itself. */
  readonly failed: Promise<never>;
  /** As Ctrl-C does. Resolves when it has ended in order. */
  stop(): Promise<void>;
}

/** A process that does not end within this is ended by force, in milliseconds. */
const graceMs = 60_000;

/** @param env Added to this process's environment without its settings of planwave, Temporal and the provider. */
export function startNpm(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): NpmProcess {
  // In a group of its own: a Ctrl-C reaches npm and what it started alike.
  const child = spawn('npm', args, {
    cwd: root,
    env: { ...neutralEnvironment(), ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  }
  const ended = once(child, 'close');
  const failed = ended.then((): never => {
    throw new Error(`npm ${args.join(' ')} ended:\n${output}`);
  });
  // Nobody may be waiting for it when it ends because it was stopped.
  failed.catch(() => {});
  const signal = (name: NodeJS.Signals): void => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, name);
  };
  return {
    failed,
    async stop() {
      signal('SIGINT');
      const force = setTimeout(() => signal('SIGKILL'), graceMs);
      await ended;
      clearTimeout(force);
    },
  };
}
