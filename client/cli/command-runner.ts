import type { Command } from 'commander';
import { join } from 'node:path';
import type { CliDeps, LazyCliDeps } from './cli-deps.ts';
import type { CliSession } from './cli-session.ts';
import type { ConnectOptions } from '../connect.ts';
import { exitCodes } from './cli-error.ts';
import { safeJson, createPaint, cleanLine, type Paint } from './terminal-text.ts';
import { commandText } from '../../core/text/format.ts';

/** Result of a command. The runner prints one of the two forms. */
export interface CommandResult {
  /** The one JSON document of `--json`; `undefined` when the command printed everything itself. */
  readonly data: unknown;
  readonly lines: readonly string[];
  /** Default 0. */
  readonly exitCode?: number | undefined;
}

export interface GlobalOptions {
  readonly json?: boolean;
  readonly address?: string;
  readonly namespace?: string;
}

export interface CommandContext {
  readonly deps: CliDeps;
  readonly json: boolean;
  readonly globals: GlobalOptions;
  readonly paint: Paint;
  /** Connects at the first call, and anew after a failure. Closed by the runner. */
  readonly session: () => Promise<CliSession>;
}

/**
 * Makes the action of a command from its work. The work gets what all commands share, then the arguments and the options as
 * Commander passes them. What it returns is printed.
 */
export type CommandRunner = <Given extends unknown[]>(
  work: (context: CommandContext, ...given: Given) => Promise<CommandResult>,
) => (this: Command, ...given: Given) => Promise<void>;

export function createCommandRunner(
  shell: CliDeps | LazyCliDeps,
  reportExitCode: (exitCode: number) => void,
): CommandRunner {
  return (work) =>
    async function run(this: Command, ...given) {
      const globals = this.optsWithGlobals<GlobalOptions>();
      const deps = 'load' in shell ? await shell.load() : shell;
      const { io, env } = deps;
      let opened: Promise<CliSession> | undefined;
      const tell = (rule: string, count: number): void => {
        io.stderr.write(`${describeRedaction(rule, count)}\n`);
      };
      const connect = async (options: ConnectOptions): Promise<CliSession> => {
        if (deps.openSession !== undefined) return deps.openSession(options);
        // Commands that need no server do not load its client.
        const { openSession } = await import('./cli-session.ts');
        return openSession(options, deps, tell);
      };
      const { address, namespace } = globals;
      const context: CommandContext = {
        deps,
        json: globals.json === true,
        globals,
        paint: createPaint(io.colour),
        session: () =>
          (opened ??= connect({ address, namespace, env }).catch((error: unknown) => {
            opened = undefined;
            throw error;
          })),
      };
      try {
        const { data, lines, exitCode } = await work(context, ...given);
        if (data !== undefined) {
          io.stdout.write(context.json ? `${safeJson(data)}\n` : toText(lines));
        }
        reportExitCode(exitCode ?? exitCodes.ok);
      } finally {
        await closeQuietly(opened);
      }
    };
}

/** On standard error, so that a person sees it beside `--json` too. */
function describeRedaction(rule: string, count: number): string {
  return count === 1
    ? `One secret (${rule}) was taken out before sending: [redacted:${rule}] stands in its place.`
    : `${count} secrets (${rule}) were taken out before sending: [redacted:${rule}] stands in their place.`;
}

function toText(lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
}

/** A connection that failed was reported already, and one that fails to close is gone anyway. */
async function closeQuietly(opened: Promise<CliSession> | undefined): Promise<void> {
  try {
    const session = await opened;
    await session?.close();
  } catch {
    // See above.
  }
}

/** Returns the folder below which a worker on this machine writes files; null for one that encrypts, which writes none. */
export function artifactHome({ deps }: CommandContext): string | null {
  if ((deps.keys?.ids.length ?? 0) > 0) return null;
  return deps.env['PLANWAVE_HOME'] || '.planning';
}

/** Returns the path of a run's file, for a worker on this machine, or the command that writes it. */
export function resultPath(context: CommandContext, path: string): string {
  const home = artifactHome(context);
  const [runId = ''] = path.split('/');
  return home === null
    ? `encrypted; show it with ${commandText('report', runId)}, write it with ${commandText('export', runId)}`
    : cleanLine(join(home, path));
}
