import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds package.json. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

/** Rooms with code that ships. */
export const sourceRooms = [
  'contracts',
  'core',
  'redaction',
  'encryption',
  'workflows',
  'activities',
  'client',
  'rehearsal',
  'worker',
  'scripts',
] as const;

/** As `.gitignore` says it: `name/` is a folder anywhere, `*.ext` a file anywhere. Other forms are not used there. */
const ignored = new Set(readLines('.gitignore'));

function readLines(path: string): string[] {
  return readFileSync(join(root, path), 'utf8').split('\n');
}

function listBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    // A folder, or a file that names one in a worktree.
    if (entry.name === '.git') return [];
    if (entry.isDirectory()) return ignored.has(`${entry.name}/`) ? [] : listBelow(path);
    const extension = /\.[^.]+$/.exec(entry.name)?.[0] ?? '';
    return entry.isFile() && !ignored.has(`*${extension}`) ? [path] : [];
  });
}

/** Every file that belongs to the repository, as `folder/name`, sorted. */
export const allFiles: readonly string[] = listBelow(root)
  .map((path) => relative(root, path).split(sep).join('/'))
  .toSorted();

export const codeFiles = allFiles.filter((path) => /\.(?:ts|mjs)$/.test(path));

export const testFiles = codeFiles.filter((path) => path.startsWith('test/'));

export const sourceFiles = codeFiles.filter((path) =>
  sourceRooms.some((room) => path.startsWith(`${room}/`)),
);

export function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** @returns the folders of the repository without hidden ones: of source rooms at any depth, of others the two upper levels. */
export function listFolders(): string[] {
  const folders = allFiles.flatMap((path) => {
    const names = path.split('/').slice(0, -1);
    if (names.length === 0 || path.startsWith('.')) return [];
    const isSource = sourceRooms.some((room) => room === names[0]);
    const shown = isSource ? names : names.slice(0, 2);
    return shown.map((_, index) => shown.slice(0, index + 1).join('/'));
  });
  return [...new Set(folders)].toSorted();
}

/** @returns every match of the expression's first group, in all of the text. */
export function matchAll(text: string, expression: RegExp): string[] {
  return [...text.matchAll(expression)].map((match) => match[1] ?? '');
}
