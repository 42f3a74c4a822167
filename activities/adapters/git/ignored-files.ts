import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isResult } from '../../../core/effects/ignored-paths.ts';
import { temporaryPattern } from '../file-store/atomic-write-file.ts';
import { runGit, splitNul, type GitPlace } from './run-git.ts';

/** Names that no copy has, unless the user's repository tracks them: secrets, folders that commands share, and leftovers of writes. */
export const excludedNames = ['.env', '.env.*', 'node_modules/', '.venv/', temporaryPattern];

/** Adds the results of a plan's agents to the index, also those that an ignore file names: other tasks read them. */
export async function addResults(place: Required<GitPlace>): Promise<void> {
  if (!existsSync(join(place.workTree, 'agents'))) return;
  const left = excludedNames.map((name) => `--exclude=${name}`);
  const args = ['ls-files', '--others', '-z', ...left, '--', ':(top,glob)agents/*/task_output/**'];
  const found = (await runGit(place, args)).output.toString('latin1').split('\0');
  // A repository inside ends with a slash.
  const paths = found.filter((path) => path !== '' && !path.endsWith('/'));
  if (paths.length === 0) return;
  await runGit(place, ['update-index', '-z', '--add', '--stdin'], {
    stdin: Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1'),
  });
}

/** Returns true for a file that no commit of the folder would have, because an ignore file names it. */
export async function isLeftOut(place: Required<GitPlace>, path: string): Promise<boolean> {
  if (isResult(path.split('/'), false)) return false;
  // Git does not count a file as ignored that it tracks.
  const args = ['check-ignore', '--quiet', '--', path];
  return (await runGit(place, args, { okCodes: [0, 1] })).code === 0;
}

/** Lists the files that are in the commits of the folder although an ignore file names them. */
export async function listKept(place: Required<GitPlace>): Promise<readonly string[]> {
  const args = ['ls-files', '--cached', '--ignored', '--exclude-standard', '-z'];
  return splitNul((await runGit(place, args)).output);
}
