import { posix, resolve } from 'node:path';
import { z } from 'zod';
import type { CommandReceipt } from '../../../contracts/effect.ts';
import type { Ref } from '../../../contracts/ref.ts';
import { commandLimits } from '../../../core/command-limits.ts';
import { isRecord } from '../../../core/json.ts';
import { cutText } from '../../../core/text/cut-text.ts';
import {
  CommandNotStarted,
  type CommandEnd,
  type CommandRunner,
} from '../../ports/command-runner.ts';
import type { Workspaces } from '../../ports/workspaces.ts';
import type { Worktrees } from '../../ports/worktrees.ts';
import { countBytes } from '../../text/bytes.ts';
import { placeOf, type ActingTool } from '../tool.ts';

export const runCommandName = 'run_command';

/** Characters of a command as people read it. */
const targetCharsMax = 200;

/** Milliseconds around a command: preparing its folder and storing its output. */
const aroundMs = 30_000;

/** The word of `look` when the folder is not the delegation's own, so that it can't be put back. */
const sharedFolder = 'a folder that others change too';

const RunCommandInput = z.strictObject({
  argv: z
    .array(z.string().max(10_000).refine(hasNoNul, 'expected no NUL character'))
    .min(1)
    .max(100)
    .describe('Program and arguments.'),
  cwd: z.string().max(1_000).refine(isBelow, 'expected a folder below the workspace').default(''),
  timeout_seconds: z
    .number()
    .int()
    .min(1)
    .max(commandLimits.secondsMax)
    .default(commandLimits.secondsDefault),
  stdin: z.string().max(commandLimits.stdinCharsMax).default(''),
});

const spec = {
  name: runCommandName,
  description:
    'Runs a program in the workspace and returns its exit code and output. There is no network, and nothing else can ' +
    'be changed. No shell reads the arguments: for pipes call sh. Example: {"argv":["npm","test"]}',
  input: RunCommandInput,
};

interface RunCommandDeps {
  readonly runner: CommandRunner;
  readonly workspaces: Pick<Workspaces, 'folderOf'>;
  readonly worktrees: Pick<Worktrees, 'open' | 'keep' | 'restore'>;
}

/**
 * Creates the tool that runs a program in the workspace. A command that was interrupted is repeated after its worktree
 * was put back, so the user is not asked. In a folder that is used directly, or without a sandbox, the user is asked. In a
 * user's folder that is used directly each command needs an approval, because nothing keeps what it replaces.
 */
export function createRunCommand({ runner, workspaces, worktrees }: RunCommandDeps): ActingTool {
  /** Inputs of commands that were not started in this process: of these alone it is certain that nothing ran. */
  const notStarted = new WeakSet<object>();
  return {
    spec,
    effect: 'acting',
    brings: runner.confined ? ['private_data'] : ['private_data', 'acts_outside'],
    offeredTo: ['agents'],
    needsWorkspace: true,
    approval: runner.confined ? 'by_risk' : 'always',
    targetOf: (input) => cutText(showCommand(RunCommandInput.parse(input).argv), targetCharsMax),
    timeoutMsOf: (input) => RunCommandInput.parse(input).timeout_seconds * 1_000 + aroundMs,
    async describeLoss(_input, context) {
      const place = await placeOf(context);
      if (place.dir === null || (await worktrees.open(place)) !== null) return null;
      const lines = [
        `It may change or remove any file of ${place.dir}. The run works in it directly, so nothing keeps what is there now.`,
      ];
      return { before: sharedFolder, lines };
    },
    look: async (_input, context) => (await worktrees.keep(await placeOf(context))) ?? sharedFolder,
    async act(input, context) {
      const { argv, cwd, timeout_seconds, stdin } = RunCommandInput.parse(input);
      const place = await placeOf(context);
      const folder = await workspaces.folderOf(place);
      const isCopy = place.dir !== null && resolve(place.dir) !== folder;
      const timeoutMs = timeout_seconds * 1_000;
      await context.mayStill();
      const command = {
        folder,
        sharedFrom: isCopy ? place.dir : null,
        argv,
        cwd,
        stdin,
        timeoutMs,
        onTail: context.onTail,
      };
      const end = await runner.run(command, context.signal).catch((error: unknown) => {
        if (error instanceof CommandNotStarted && isRecord(input)) notStarted.add(input);
        throw error;
      });
      const { confined } = runner;
      const output_ref = isLong(end.output) ? await context.store.put(end.output) : null;
      const text = describeCommand(argv, end, { confined, output_ref });
      return {
        target: cutText(showCommand(argv), targetCharsMax),
        sha256: await context.store.put(text),
        bytes: countBytes(text),
        command: { exit_code: end.exit_code, confined, output_ref },
      };
    },
    async check(input, before, context) {
      if (isRecord(input) && notStarted.delete(input)) return { type: 'absent' };
      const place = await placeOf(context);
      const folder = await workspaces.folderOf(place);
      // A command that runs there by now may be the one of the worker that has this call.
      await context.mayStill();
      await runner.endLeftovers(folder);
      // Without a sandbox it may still be running.
      if (before === sharedFolder || !runner.confined) {
        const found = 'The command was interrupted. It may have changed files of the workspace.';
        return { type: 'unknown', found };
      }
      await context.mayStill();
      await worktrees.restore(place, before);
      return { type: 'absent' };
    },
    describeDone: ({ sha256 }, { store }) => store.getText(sha256),
  };
}

function describeCommand(
  argv: readonly string[],
  { ending, exit_code, duration_ms, output }: CommandEnd,
  { confined, output_ref }: Omit<CommandReceipt, 'exit_code'>,
): string {
  const seconds = (duration_ms / 1_000).toFixed(1);
  const how =
    ending === 'exited'
      ? `exit code ${exit_code}`
      : `killed: ${explanations[ending]}, no exit code`;
  return [
    `$ ${cutText(showCommand(argv), 2_000)}`,
    `${how}, after ${seconds} s${confined ? '' : ', unconfined'}`,
    output === '' ? '[It printed nothing.]' : showEnds(output, output_ref),
  ].join('\n');
}

const explanations: Readonly<Record<Exclude<CommandEnd['ending'], 'exited'>, string>> = {
  timeout: 'it took longer than timeout_seconds. Try: more seconds, or a part of the work',
  output: `it printed more than ${commandLimits.outputBytesMax} bytes. Try: print less`,
  disk: 'it wrote too much to the disk',
  memory: 'the machine had almost no memory left',
};

function isLong(output: string): boolean {
  return countBytes(output) > commandLimits.shownHeadBytes + commandLimits.shownTailBytes;
}

/** Returns both ends of a long output: programs say what they do first, and what failed last. */
function showEnds(output: string, output_ref: Ref | null): string {
  if (output_ref === null) return output;
  const { shownHeadBytes, shownTailBytes } = commandLimits;
  const bytes = Buffer.from(output, 'utf8');
  const head = bytes.subarray(0, shownHeadBytes).toString();
  const tail = bytes.subarray(-shownTailBytes).toString();
  const left = bytes.byteLength - shownHeadBytes - shownTailBytes;
  return `${head}\n[${left} bytes are left out. The whole output is the artifact ${output_ref}.]\n${tail}`;
}

/** Shows a command as it could be typed, for people. No shell ever reads it. */
function showCommand(argv: readonly string[]): string {
  return argv
    .map((word) => (/^[\w./:=@%+,-]+$/.test(word) ? word : JSON.stringify(word)))
    .join(' ');
}

function hasNoNul(text: string): boolean {
  return !text.includes('\0');
}

function isBelow(path: string): boolean {
  const normal = posix.normalize(path);
  return hasNoNul(path) && !normal.startsWith('/') && normal !== '..' && !normal.startsWith('../');
}
