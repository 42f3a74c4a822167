import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';

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
