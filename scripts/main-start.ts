import { delimiter, resolve } from 'node:path';
import { exitCodes } from '../client/cli/cli-error.ts';
import { runCli } from '../client/cli/commands/program.ts';
import type { CliDeps } from '../client/cli/cli-deps.ts';
import { readFolders } from '../worker/worker-settings.ts';
import { messageOf } from './bootstrap/expected-error.mjs';
import { splitStartArguments, startUsage } from './bootstrap/start-arguments.mjs';
import { createCliDeps } from './cli-deps.ts';
import { describeFolderFault, readSettings, type Settings } from './parts/settings.ts';
import { listenForStop } from './parts/supervise.ts';
import { sayBeside, webUiLine } from './say.ts';
import { entryPoints } from '../core/text/entry-points.ts';
import { bringUp, stopStack } from './stack.ts';
import { commandText } from '../core/text/format.ts';

/** The exit code of a command that Ctrl-C ended, by the shell's convention. */
const interruptedExitCode = 130;

/** `npm start -- "<goal>"`: brings everything up, runs one goal to its result, and stops what it started. */
export async function main(args: readonly string[]): Promise<number> {
  const { goal, defaults, rest } = splitStartArguments(args);
  if (goal === '') {
    console.error(startUsage);
    return 2;
  }
  const settings = readSettings();
  const say = sayBeside(rest);
  say(describeModel(settings));
  const stop = listenForStop();
  const cwd = process.env['INIT_CWD'] ?? process.cwd();
  const env = allowNamedFolders(rest, cwd, process.env);
  const stack = await Promise.race([bringUp(settings, say, env), stop.asked]);
  if (stack === undefined) return interruptedExitCode;
  say(webUiLine(stack.uiUrl));
  let startedId: string | undefined;
  const deps: CliDeps = {
    ...createCliDeps(settings, stack.temporalAddress),
    onStarted: (runId) => (startedId = runId),
    describeLeaving,
  };
  const flags = ['--watch', ...(defaults ? ['--defaults'] : []), ...rest];
  // A failing run part must not keep the stack from being stopped in order.
  const outcome = await Promise.race([
    // The goal comes last, behind `--`: an option that takes several values would swallow it.
    runCli(['start', ...flags, '--', goal], deps).catch(messageOf),
    stack.givenUp,
    stop.asked,
  ]);
  const fault = outcome === 0 ? undefined : describeFolderFault(settings.home);
  const reason = fault ?? (typeof outcome === 'string' ? outcome : undefined);
  if (reason !== undefined) console.error(`Giving up: ${reason}`);
  await stopStack(stack, stop, say);
  say(describeRest(startedId, outcome));
  if (typeof outcome === 'number') return outcome;
  return outcome === undefined ? interruptedExitCode : 1;
}

/**
 * Returns the environment of a worker that accepts the folders which these options of a run name, because the person
 * who names them starts the worker too. A list of folders that the environment states stays as it is.
 */
export function allowNamedFolders(
  options: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const { workspaceRoots = [], agentRoots = [] } = readFolders(env);
  const allow = (option: string, roots: readonly string[]) => {
    const named = valuesOf(option, options).map((dir) => resolve(cwd, dir));
    // Such a name would be read as two folders, which nobody has named.
    return [...roots, ...named.filter((dir) => !dir.includes(delimiter))].join(delimiter);
  };
  return {
    ...env,
    PLANWAVE_WORKSPACES: env['PLANWAVE_WORKSPACES'] || allow('--workspace', workspaceRoots),
    PLANWAVE_AGENTS: env['PLANWAVE_AGENTS'] || allow('--agents', agentRoots),
  };
}

/** Returns the values of an option in both of its spellings. */
function valuesOf(option: string, options: readonly string[]): string[] {
  return options.flatMap((text, at) => {
    if (text.startsWith(`${option}=`)) return [text.slice(option.length + 1)];
    const value = options[at + 1];
    return text === option && value !== undefined ? [value] : [];
  });
}

/** Describes which model answers, before anything is started. */
export function describeModel({ needsRehearsal }: Pick<Settings, 'needsRehearsal'>): string {
  return needsRehearsal
    ? 'Model:      the rehearsal model, as there is no ANTHROPIC_API_KEY. It answers by fixed rules, costs\n' +
        '            nothing, and writes only examples. For a real model: export ANTHROPIC_API_KEY=…'
    : 'Model:      the Anthropic API that the environment names';
}

/** Describes what Ctrl-C does here, where it stops the worker too. */
export function describeLeaving(runId: string): string {
  return `Run ${runId} stands still until its worker runs again: it stops with this command.`;
}

/**
 * Describes what is left when everything has been stopped.
 *
 * @param runId undefined when no run began
 * @param outcome exit code of following the run; anything else when it was broken off
 */
export function describeRest(runId: string | undefined, outcome: unknown): string {
  if (runId === undefined) return 'No run was started.';
  if (outcome === exitCodes.ok || outcome === exitCodes.unmet) {
    return `Run ${runId} is kept. To look at everything that it did: ${commandText('view', runId)}`;
  }
  return (
    `Run ${runId} is kept. To look at it again, or to let it go on: ${entryPoints.dev}, and in another terminal ` +
    commandText('watch', runId)
  );
}
