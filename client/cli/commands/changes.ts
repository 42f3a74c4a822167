import type { Command } from 'commander';
import type { TakenOver } from '../cli-deps.ts';
import type { CommandResult, CommandRunner } from '../command-runner.ts';
import { inHomeOf } from '../other-home.ts';
import { cleanLine, cleanText } from '../terminal-text.ts';

/** Registers the commands for what a run has changed in a git repository. They need no server. */
export function registerDiff(command: Command, runner: CommandRunner): void {
  command.action((run: string, delegation: string | undefined) =>
    runner.run(command, async (context) => {
      const { changes } = context.deps;
      const patch = await inHomeOf(context, run, () => changes.diff(run, delegation ?? null));
      const lines = patch === '' ? ['Nothing is changed.'] : [cleanText(patch).trimEnd()];
      return { data: { run_id: run, patch }, lines };
    }),
  );
}

export function registerApply(command: Command, runner: CommandRunner): void {
  command.action((run: string) =>
    runner.run(command, async (context) => {
      const taken = await inHomeOf(context, run, () => context.deps.changes.apply(run));
      return describe(run, taken, 'applied');
    }),
  );
}

export function registerUndo(command: Command, runner: CommandRunner): void {
  command.action((run: string) =>
    runner.run(command, async (context) => {
      const taken = await inHomeOf(context, run, () => context.deps.changes.undo(run));
      return describe(run, taken, 'undone');
    }),
  );
}

const commits = {
  reverted: ['A new commit reverts the commit of the run.'],
  left: [
    'The commit of the run is still on your branch, because the folder had other changes. Try: look at git diff, then commit what you want',
  ],
};

function describe(run_id: string, taken: TakenOver, done: string): CommandResult {
  const { dir, files, commit } = taken;
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
