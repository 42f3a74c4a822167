import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a call that was bought again costs stands there, and the address of the report, which says so too. */
const billed = /^- \*\*(?:Used|Report):\*\* .*$/gmu;

/** The files of a run's triads by their paths, without what depends on how often a call was made. */
export function readPhaseFiles(home: string, runId: string): Readonly<Record<string, string>> {
  const triads = join(home, runId, 'triads');
  const paths = readdirSync(triads, { recursive: true, encoding: 'utf8' });
  return Object.fromEntries(
    paths
      .filter((path) => path.endsWith('.md'))
      .toSorted()
      .map((path) => [path, readFileSync(join(triads, path), 'utf8').replaceAll(billed, '')]),
  );
}
