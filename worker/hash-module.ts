import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';

/** Whatever stands in quotes behind `from`, `import` or `import(`, and begins with a dot. */
const relativeImport = /\b(?:from|import)\s*(?:\(\s*)?(['"])(\.{1,2}\/[^'"\n]+)\1/g;

/**
 * SHA-256 of a module and of all modules that it imports by a relative path, in hexadecimal: the same wherever they lie.
 * Packages are not looked into, nor what is imported by a name that is put together.
 *
 * @param file an absolute path
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
  // Loading has told already what is missing; a line of a comment may name nothing.
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return;
  into.set(file, text);
  for (const [, , path = ''] of text.matchAll(relativeImport)) {
    await collect(resolve(dirname(file), path), into);
  }
}
