import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Builds the worker as one script, for tests that start hundreds of them: it loads in a third of the processor time that the
 * sources take. `esbuild` is in `node_modules` anyway, because `tsx` uses it.
 *
 * @returns the file, and a function that removes it.
 */
export async function buildWorker(): Promise<{
  readonly file: string;
  readonly remove: () => void;
}> {
  // Below the packages, which the script does not contain.
  const file = join(root, 'node_modules', '.cache', 'planwave', `worker-${randomUUID()}.mjs`);
  await build({
    stdin: {
      contents: [
        `import { exitCodeOf } from './scripts/bootstrap/hand-over.mjs';`,
        `import { main } from './scripts/main-worker.ts';`,
        `process.exit(await exitCodeOf(main));`,
      ].join('\n'),
      resolveDir: root,
      loader: 'ts',
    },
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    plugins: [
      {
        name: 'places',
        setup: (building) =>
          building.onLoad({ filter: /\.(?:ts|mjs)$/ }, ({ path }) => ({
            // A module finds its files beside its source.
            contents: readFileSync(path, 'utf8').replaceAll(
              'import.meta.url',
              JSON.stringify(pathToFileURL(path).href),
            ),
            loader: 'ts',
          })),
      },
    ],
  });
  return { file, remove: () => rmSync(file, { force: true }) };
}
