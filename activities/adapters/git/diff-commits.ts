import type { FileChange } from '../../../contracts/effect.ts';
import { runGit, splitNul } from './run-git.ts';

/** Bytes of a patch that a person or an agent reads: far more than either does. */
export const shownPatchBytesMax = 16 * 1024 * 1024;

/**
 * Returns the difference between two commits as a patch that `git apply` takes, unless text in it is not UTF-8: a patch is for
 * reading, and such bytes are replaced.
 *
 * @param bytesMax If the files that differ have more bytes, contents that are no text are left out, and so is what is beyond so
 *   many bytes of the patch. If undefined, nothing is.
 * @throws {GitFailed} when it is larger than git may print.
 */
export async function diffCommits(
  gitDir: string,
  from: string,
  to: string,
  bytesMax?: number,
): Promise<string> {
  const isLarge = bytesMax !== undefined && (await countBytes(gitDir, from, to)) > bytesMax;
  const args = ['diff-tree', '-r', '-p', '--no-ext-diff', '--no-textconv', '-M'];
  if (!isLarge) args.push('--binary');
  const cutAt = isLarge ? bytesMax : undefined;
  const { output } = await runGit({ gitDir }, [...args, from, to], { cutAt });
  const isCut = output.byteLength === cutAt;
  return isCut ? `${output.toString()}\n[cut after ${cutAt} bytes]\n` : output.toString();
}

/** Counts the bytes of the files that differ between two commits, in both. */
async function countBytes(gitDir: string, from: string, to: string): Promise<number> {
  const raw = await runGit({ gitDir }, ['diff-tree', '-r', '--no-renames', from, to]);
  // ":<mode> <mode> <object> <object> <letter>\t<path>", with an object of zeros for none.
  const objects = raw.output.toString('latin1').matchAll(/^:\d+ \d+ (\w+) (\w+) /gmu);
  const known = [...objects].flatMap(([, ...both]) => both).filter((one) => /[^0]/u.test(one));
  const args = ['cat-file', '--batch-check=%(objectsize)', '--buffer'];
  const sizes = await runGit({ gitDir }, args, { stdin: Buffer.from(known.join('\n')) });
  const lines = sizes.output.toString().split('\n');
  return lines.reduce((sum, size) => sum + (Number(size) || 0), 0);
}

/** Lists the files that differ between two commits. */
export async function listChangedFiles(
  gitDir: string,
  from: string,
  to: string,
): Promise<readonly FileChange[]> {
  const args = ['diff-tree', '-r', '--no-renames', '--name-status', '-z', from, to];
  const words = splitNul((await runGit({ gitDir }, args)).output);
  return words.flatMap((letter, at) => {
    const path = words[at + 1];
    if (at % 2 === 1 || path === undefined) return [];
    return { change: changes[letter] ?? 'changed', path };
  });
}

const changes: Readonly<Record<string, FileChange['change']>> = { A: 'added', D: 'deleted' };
