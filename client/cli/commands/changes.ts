import type { Command } from 'commander';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { inHomeOf } from '../other-home.ts';
import { cleanLine, cleanText } from '../terminal-text.ts';

/** Registers the commands for what a run has changed in a git repository. They need no server. */
export function registerDiff(command: Command, runner: CommandRunner): void {
  command.action(runner(diff));
}

export function registerApply(command: Command, runner: CommandRunner): void {
  command.action(runner((context, run: string) => takeOver(context, run, 'apply')));
}

export function registerUndo(command: Command, runner: CommandRunner): void {
  command.action(runner((context, run: string) => takeOver(context, run, 'undo')));
}

async function diff(
  context: CommandContext,
  run: string,
  delegation: string | undefined,
): Promise<CommandResult> {
  const { changes } = context.deps;
  const read = () => changes.diff(run, delegation ?? null);
  const patch = await inHomeOf(context, run, read, 'copies');
  const lines = patch === '' ? ['Nothing is changed.'] : [cleanText(patch).trimEnd()];
  return { data: { run_id: run, patch }, lines };
}

const doneBy = { apply: 'applied', undo: 'undone' } as const;

async function takeOver(
  context: CommandContext,
  run_id: string,
  name: keyof typeof doneBy,
): Promise<CommandResult> {
  const take = () => context.deps.changes[name](run_id);
  const taken = await inHomeOf(context, run_id, take, 'copies');
  const { dir, files, commit } = taken;
  const done = doneBy[name];
  const first =
    files.length === 0 ? `There is nothing to be ${done} in ${dir}.` : `${done} in ${dir}:`;
  return {
    data: { run_id, ...taken },
    lines: [
      cleanLine(first),
      ...files.map(({ change, path }) => `  ${change} ${cleanLine(path)}`),
      ...(commit === undefined ? [] : commits[commit]),
    ],
  };
}

const commits = {
  reverted: ['A new commit reverts the commit of the run.'],
  left: [
    'The commit of the run is still on your branch, because the folder had other changes. Try: look at git diff, then commit what you want',
  ],
};
