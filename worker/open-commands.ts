import {
  createSandbox,
  createUnconfinedRunner,
} from '../activities/adapters/sandbox/command-runner.ts';
import { probeSandbox } from '../activities/adapters/sandbox/probe-sandbox.ts';
import type { CommandRunner } from '../activities/ports/command-runner.ts';
import { runCommandName } from '../activities/tools/registry/run-command.ts';
import type { CommandSettings } from './command-settings.ts';

/** The runner of agents' commands, or why there are none on this machine. */
export type Commands =
  | { readonly runner: CommandRunner }
  | { readonly cause: string; readonly cure: string };

/** Looks once whether commands can be confined here. Only the operator's setting allows them without that. */
export async function openCommands(settings: CommandSettings): Promise<Commands> {
  if (settings.unconfined) return { runner: createUnconfinedRunner(settings) };
  const probe = await probeSandbox(settings);
  return probe.ok ? { runner: createSandbox(settings, probe.bwrap) } : probe;
}

/** Says for each tool that this worker lacks why, and what helps. */
export function describeMissing(commands: Commands): Readonly<Record<string, string>> {
  if ('runner' in commands) return {};
  return { [runCommandName]: `${commands.cause}. Try: ${commands.cure}` };
}
