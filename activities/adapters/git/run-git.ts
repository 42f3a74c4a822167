import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { devNull } from 'node:os';
import { getCode } from '../file-store/store-errors.ts';
import { definedOnly } from '../../../core/json.ts';

/** The parts of a repository that one call works with. Git looks for nothing by itself. */
export interface GitPlace {
  readonly gitDir: string;
  /** Folder with the files. If undefined, the call reads and writes objects and refs only. */
  readonly workTree?: string;
  /** Default: the index of the repository. */
  readonly indexFile?: string;
}

export interface GitOptions {
  /** Standard input. If undefined, it is empty. */
  readonly stdin?: Buffer;
  /** Exit codes that are an answer and no failure. Default: 0. */
  readonly okCodes?: readonly number[];
  /**
   * True: contents that are new go into one pack, flushed once. Default: each into a file of its own, which takes longer for
   * many and less for few.
   */
  readonly packed?: boolean;
  /** True to read the settings of the user, for a command that starts no program. Default false. */
  readonly asUser?: boolean;
  /** Bytes of output after which git is ended, and the rest is missing. If undefined, too much output is a failure. */
  readonly cutAt?: number | undefined;
  /** Time of a commit that people see, in Unix epoch seconds. If undefined, always the same. */
  readonly at?: number;
}

export interface GitAnswer {
  readonly code: number;
  /** Standard output. File names in it are bytes of any kind. */
  readonly output: Buffer;
}

/** A call of git failed. The message holds what git said. */
export class GitFailed extends Error {
  override readonly name = 'GitFailed';
}

/** One call, in milliseconds. A checkout of 100,000 files takes less; a call that waits for input would never end. */
const timeoutMs = 120_000;

/** Milliseconds that a call waits for the lock of a ref, which another one holds for milliseconds. One that is older has no owner. */
export const refLockMsMax = 5_000;

/** Bytes that one call may print: a diff of a whole repository. */
const outputBytesMax = 64 * 1024 * 1024;

/** Code of Node's for output beyond `maxBuffer`. */
const tooMuch = 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER';

/**
 * Settings that win over those of the repository. An agent may have written the files that git reads, so nothing that
 * git finds may start a program, follow another repository or change bytes.
 */
const settings = [
  'core.bare=false',
  'core.fsmonitor=false',
  `core.hooksPath=${devNull}`,
  `core.attributesFile=${devNull}`,
  `core.excludesFile=${devNull}`,
  'core.autocrlf=false',
  'core.symlinks=true',
  'core.quotePath=false',
  'core.untrackedCache=false',
  'diff.ignoreSubmodules=all',
  'submodule.recurse=false',
  'protocol.allow=never',
  `core.filesRefLockTimeout=${refLockMsMax}`,
  `core.packedRefsTimeout=${refLockMsMax}`,
  'gc.auto=0',
  'maintenance.auto=false',
].flatMap((setting) => ['-c', setting]);

/** Makes git treat every file like the large ones, which it packs as it reads them. */
const packing = ['-c', 'core.bigFileThreshold=1'];

/** Commits are functions of their content, so that a repeated snapshot is the same commit. */
const author = { NAME: 'planwave', EMAIL: 'planwave@localhost', DATE: '1000000000 +0000' };

const environment = {
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: devNull,
  GIT_ATTR_NOSYSTEM: '1',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_TERMINAL_PROMPT: '0',
  ...Object.fromEntries(
    Object.entries(author).flatMap(([key, value]) => [
      [`GIT_AUTHOR_${key}`, value],
      [`GIT_COMMITTER_${key}`, value],
    ]),
  ),
};

function userEnvironment(): Readonly<Record<string, string>> {
  const { PATH, LC_ALL } = environment;
  const { HOME, XDG_CONFIG_HOME }: NodeJS.ProcessEnv = process.env;
  return definedOnly({ PATH, LC_ALL, HOME, XDG_CONFIG_HOME });
}

/**
 * Calls git. No other code does: an agent can write into a worktree, and a plain `git status` there runs the programs
 * that a planted repository names.
 *
 * @throws {GitFailed} when git is missing, takes too long, prints too much or exits with a code that is not expected.
 */
export function runGit(
  { gitDir, workTree, indexFile }: GitPlace,
  args: readonly string[],
  options: GitOptions = {},
): Promise<GitAnswer> {
  const { stdin = Buffer.alloc(0), okCodes = [0], packed = false, asUser = false } = options;
  const { at, cutAt } = options;
  const places = [
    `--git-dir=${gitDir}`,
    ...(workTree === undefined ? [] : [`--work-tree=${workTree}`]),
  ];
  const date = at === undefined ? undefined : `${at} +0000`;
  const env = {
    ...(asUser ? userEnvironment() : environment),
    ...definedOnly({ GIT_INDEX_FILE: indexFile, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date }),
  };
  return new Promise((resolve, reject) => {
    const child = execFile(
      'git',
      [...places, ...(asUser ? [] : settings), ...(packed ? packing : []), ...args],
      {
        cwd: workTree ?? '/',
        env,
        timeout: timeoutMs,
        killSignal: 'SIGKILL',
        maxBuffer: cutAt ?? outputBytesMax,
        encoding: 'buffer',
      },
      (error, stdout, stderr) => {
        const isCut = cutAt !== undefined && getCode(error) === tooMuch;
        const code = error === null || isCut ? 0 : error.code;
        if (typeof code === 'number' && okCodes.includes(code)) resolve({ code, output: stdout });
        else if (isMissing(workTree)) reject(new GitFailed(describeMissing(workTree)));
        else reject(new GitFailed(describeFailure(args[0] ?? '', error, stderr.toString())));
      },
    );
    // Git may end before it has read everything.
    child.stdin?.on('error', () => {});
    child.stdin?.end(stdin);
  });
}

/** Without its folder, a process can't start either, and the system says the same as for a missing program. */
function isMissing(workTree: string | undefined): workTree is string {
  return workTree !== undefined && !existsSync(workTree);
}

function describeMissing(workTree: string): string {
  return `there is no folder ${workTree}. Try: move it back to this place`;
}

function describeFailure(command: string, error: Error | null, stderr: string): string {
  if (getCode(error) === 'ENOENT') {
    return 'git is not installed. Try: apt install git, version 2.38 or newer';
  }
  if (getCode(error) === tooMuch) {
    return `git ${command} printed more than ${outputBytesMax / 1024 / 1024} MB`;
  }
  const killed = error !== null && 'killed' in error && error.killed === true;
  if (killed) return `git ${command} took longer than ${timeoutMs / 1_000} s`;
  return `git ${command} failed: ${stderr.trim().slice(0, 2_000)}`;
}

/** Splits what git prints with `-z`. Names that are not UTF-8 are shown with replacement characters. */
export function splitNul(output: Buffer): string[] {
  return output
    .toString()
    .split('\0')
    .filter((part) => part !== '');
}
