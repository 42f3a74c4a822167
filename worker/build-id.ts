import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folders whose content decides how a run continues: its code, its prompts, and the shipped agents. */
const sourceFolders = [
  'agents',
  'contracts',
  'core',
  'workflows',
  'activities',
  'redaction',
  'encryption',
  'worker',
];

/**
 * Identifies code and prompts of this checkout: two workers with the same id do the same. It is not a hash of the
 * bundle, which holds no prompts. Short, because six events of every turn name the code that ran them.
 *
 * @param files Modules of the worker's owner that are included; undefined for none.
 */
export async function computeBuildId(files: readonly (string | undefined)[] = []): Promise<string> {
  const sources = await hashSources(sourceFolders, packageFiles.source);
  return `planwave+${(await addModules(sources, files)).slice(0, 12)}`;
}

async function addModules(
  sources: string,
  files: readonly (string | undefined)[],
): Promise<string> {
  const modules = await Promise.all(
    files.map(async (file) => (file === undefined ? '' : hashModule(file))),
  );
  if (modules.every((one) => one === '')) return sources;
  return createHash('sha256').update(sources).update(modules.join(',')).digest('hex');
}

/** Matches quoted paths after `from`, `import` or `import(` that begin with a dot. */
const relativeImport = /\b(?:from|import)\s*(?:\(\s*)?(['"])(\.{1,2}\/[^'"\n]+)\1/g;

/**
 * Hashes a module and all modules that it imports by a relative path with SHA-256, in hexadecimal: independent of their
 * folder. Packages and imports with a computed name are not included.
 *
 * @param file An absolute path.
 */
export async function hashModule(file: string): Promise<string> {
  const texts = new Map<string, string>();
  await collect(file, texts);
  const hash = createHash('sha256');
  const named = [...texts].map(([path, text]) => [relative(dirname(file), path), text] as const);
  for (const [path, text] of named.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    hash.update(`${path}\0${text}\0`);
  }
  return hash.digest('hex');
}

async function collect(file: string, into: Map<string, string>): Promise<void> {
  if (into.has(file)) return;
  // Loading has already reported missing modules; a path in a comment may not exist.
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return;
  into.set(file, text);
  for (const [, , path = ''] of text.matchAll(relativeImport)) {
    await collect(resolve(dirname(file), path), into);
  }
}

/** True in the package that `npm pack` makes, which has JavaScript instead of the sources. */
export const isBuilt = import.meta.url.endsWith('.js');

/** The folder that holds the folders of the code. */
export const root = fileURLToPath(new URL('..', import.meta.url));

/** Files that say which packages there are: the one of the source, and the one of what npm has installed. */
export const packageFiles = isBuilt
  ? { source: '../package.json', installed: '../package.json' }
  : { source: 'package-lock.json', installed: join('node_modules', '.package-lock.json') };

/**
 * SHA-256 of the names and contents of code and agent files, in hexadecimal. Takes milliseconds, and is the same for
 * equal sources wherever the checkout lies.
 *
 * @param folders below the root; each is read with all folders in it
 * @param file one more, which says which packages there are
 */
export async function hashSources(folders: readonly string[], file: string): Promise<string> {
  const perFolder = await Promise.all(folders.map(listSources));
  const hash = createHash('sha256');
  for (const path of [file, ...perFolder.flat()].toSorted()) {
    hash.update(`${path}\0`).update(await readFile(join(root, path)));
  }
  return hash.digest('hex');
}

async function listSources(folder: string): Promise<string[]> {
  const names = await readdir(join(root, folder), { recursive: true });
  return names
    .filter((name) => /\.(?:[cm]?[jt]s|md)$/.test(name))
    .map((name) => join(folder, name));
}
