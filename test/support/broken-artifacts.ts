import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredHistory } from './histories.ts';
import { storedRecords } from './stored-records.ts';
import type { StoredRecord } from './stored-records.ts';

/** Any hash except that of a file outside the run, which is labelled as such. */
const refPattern = /(?<!SHA-256 |"sha256":")\b[0-9a-f]{64}\b/g;

/**
 * Finds errors in the artifacts of a home: bytes that do not match their address, addresses that are named without an
 * artifact behind them, and artifacts that nothing names.
 *
 * @param histories of every run of the home: what they name is expected.
 * @param orphans true when an unnamed artifact is allowed.
 */
export async function findBrokenArtifacts(
  home: string,
  histories: readonly StoredHistory[],
  orphans: boolean,
): Promise<string[]> {
  const objects = await readObjects(home);
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

/** Reads all artifacts; of two copies, the whole one counts, as for a reader. */
async function readObjects(home: string): Promise<Map<string, Buffer>> {
  const artifacts = (await storedRecords(home)).filter(({ attempt }) => attempt === 0);
  return new Map(
    artifacts.toSorted((a, b) => isWhole(a) - isWhole(b)).map(({ key, body }) => [key, body]),
  );
}

function isWhole({ key, body }: StoredRecord): number {
  return Number(createHash('sha256').update(body).digest('hex') === key);
}

function readIndex(home: string): string[] {
  return readdirSync(join(home, 'refs'), { recursive: true, withFileTypes: true })
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
