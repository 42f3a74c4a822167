import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Lines that differ between runs: the cost of a call bought again, the duration of a task, and the address of the report
 * that contains them.
 */
const measured: readonly (readonly [RegExp, string])[] = [
  [/^- \*\*(?:Used|Report):\*\* .*$/gmu, ''],
  [/^(- \*\*Took:\*\* \d+ attempts?), .*$/gmu, '$1'],
  [/^\|.*\|$/gmu, ''],
];

/** The files of a run's triads and teams by their paths, without the run's id and what depends on how often a call was made. */
export function readReportFiles(home: string, runId: string): Readonly<Record<string, string>> {
  const root = join(home, runId);
  const paths = ['triads', 'teams']
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
        join(folder, path),
      ),
    );
  return Object.fromEntries(
    paths
      .filter((path) => path.endsWith('.md'))
      .toSorted()
      .map((path) => [
        path,
        withoutMeasures(readFileSync(join(root, path), 'utf8')).replaceAll(runId, 'the run'),
      ]),
  );
}

function withoutMeasures(text: string): string {
  return measured.reduce((rest, [pattern, kept]) => rest.replaceAll(pattern, kept), text);
}
