import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { ownToolchain, type SandboxSettings } from '../activities/adapters/sandbox/bubblewrap.ts';
import {
  createSandbox,
  createUnconfinedRunner,
} from '../activities/adapters/sandbox/command-runner.ts';
import { probeSandbox } from '../activities/adapters/sandbox/probe-sandbox.ts';
import type { CommandRunner } from '../activities/ports/command-runner.ts';
import { runCommandName } from '../activities/tools/registry/run-command.ts';

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

/** Says why no command runs unasked here, and what helps; null where a sandbox confines them. */
export function describeNoCommands(commands: Commands): string | null {
  if (!('runner' in commands)) return `${commands.cause}. Try: ${commands.cure}`;
  return commands.runner.confined
    ? null
    : 'commands run in no sandbox here. Try: PLANWAVE_UNCONFINED_COMMANDS empty, on a worker with bubblewrap';
}

export interface CommandSettings extends SandboxSettings {
  /** `PLANWAVE_UNCONFINED_COMMANDS=1`: commands run without a sandbox, and a person approves each. */
  readonly unconfined: boolean;
}

/** Variables of agents' commands, each with what is expected of it. */
export const commandVariables = {
  PLANWAVE_TOOLCHAINS: z
    .string()
    .transform((text) => text.split(':').filter((path) => path !== ''))
    .refine(
      (paths) => paths.every((path) => isAbsolute(path)),
      'absolute paths, joined by ":". Try: /opt/go:/opt/python',
    )
    .optional(),
  PLANWAVE_SHARED_FOLDERS: z
    .string()
    .transform((text) => text.split(':').filter((name) => name !== ''))
    .refine(
      (names) => names.every((name) => /^(?!\.{1,2}$)[^/\0]{1,200}$/.test(name)),
      'names of folders at the top of the workspace, joined by ":". Try: node_modules:.venv',
    )
    .default(['node_modules', '.venv']),
  PLANWAVE_UNCONFINED_COMMANDS: z
    .enum(['0', '1'], '1 for commands without a sandbox, or 0. Try: leave it empty')
    .default('0'),
};

type CommandVariables = z.infer<z.ZodObject<typeof commandVariables>>;

export function toCommandSettings(read: CommandVariables): CommandSettings {
  return {
    toolchains: read.PLANWAVE_TOOLCHAINS ?? ownToolchain(),
    sharedFolders: read.PLANWAVE_SHARED_FOLDERS,
    unconfined: read.PLANWAVE_UNCONFINED_COMMANDS === '1',
  };
}
