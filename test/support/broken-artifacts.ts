import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredHistory } from './histories.ts';

/** Any hash except that of a file outside the run, which is labelled as such. */
const refPattern = /(?<!SHA-256 |"sha256":")\b[0-9a-f]{64}\b/g;

/**
 * Finds errors in the artifacts of a home: bytes that do not match their address, addresses that are named without an
 * artifact behind them, and artifacts that nothing names.
 *
 * @param histories of every run of the home: what they name is expected.
 * @param orphans true when an unnamed artifact is allowed.
 */
export function findBrokenArtifacts(
  home: string,
  histories: readonly StoredHistory[],
  orphans: boolean,
): string[] {
  const objects = readObjects(home);
  const torn = [...objects]
    .filter(([ref, bytes]) => createHash('sha256').update(bytes).digest('hex') !== ref)
    .map(([ref]) => `artifact ${ref}: its bytes have another hash`);
  const reached = new Set<string>();
  const queue = histories.flatMap(({ history }) => refsIn(payloadTexts(history)));
  queue.push(...refsIn(readIndex(home)));
  const missing: string[] = [];
  for (let ref = queue.pop(); ref !== undefined; ref = queue.pop()) {
    if (reached.has(ref)) continue;
    reached.add(ref);
    const bytes = objects.get(ref);
    if (bytes === undefined) missing.push(`artifact ${ref}: named, and missing`);
    else queue.push(...refsIn([bytes.toString('utf8')]));
  }
  if (orphans) return [...torn, ...missing];
  const unnamed = [...objects]
    .filter(([ref]) => !reached.has(ref))
    .map(
      ([ref, bytes]) =>
        `artifact ${ref}: nothing names it: ${bytes.toString('utf8').slice(0, 200)}`,
    );
  return [...torn, ...missing, ...unnamed];
}

function readObjects(home: string): Map<string, Buffer> {
  const root = join(home, 'objects');
  const objects = new Map<string, Buffer>();
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name.endsWith('.tmp')) continue;
    const path = join(entry.parentPath, entry.name);
    objects.set(path.slice(root.length).replaceAll('/', ''), readFileSync(path));
  }
  return objects;
}

/** Reads the indexes of runs and of research. A home without a design has only the first. */
function readIndex(home: string): string[] {
  return ['refs', 'research']
    .map((folder) => join(home, folder))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
}

function refsIn(texts: readonly string[]): string[] {
  return texts.flatMap((text) => text.match(refPattern) ?? []);
}

/** Returns every payload of a history as text. */
export function payloadTexts(history: unknown): string[] {
  const texts: string[] = [];
  const visit = (value: unknown): void => {
    if (value instanceof Uint8Array) texts.push(Buffer.from(value).toString('utf8'));
    else if (Array.isArray(value)) value.forEach(visit);
    else if (typeof value === 'object' && value !== null) Object.values(value).forEach(visit);
  };
  visit(history);
  return texts;
}
