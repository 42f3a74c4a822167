import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import type { BuildOptions } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface BuiltScript {
  readonly file: string;
  readonly remove: () => void;
}

/**
 * Builds the worker of a checkout as one script, for tests that start hundreds of them.
 *
 * @param checkout Default: this one. Another one has to share the packages of this one.
 */
export function buildWorker(checkout = root): Promise<BuiltScript> {
  return buildScript('worker', {
    stdin: {
      contents: [
        `import { exitCodeOf } from './scripts/bootstrap/hand-over.mjs';`,
        `import { main } from './scripts/main-worker.ts';`,
        `void exitCodeOf(main).then((code) => process.exit(code));`,
      ].join('\n'),
      resolveDir: checkout,
      loader: 'ts',
    },
  });
}

/**
 * Builds a script and its modules as one file, which loads in a third of the processor time that the sources take. `esbuild`
 * is in `node_modules` anyway, because `tsx` uses it.
 *
 * @returns the file, and a function that removes it.
 */
export async function buildScript(
  name: string,
  source: Pick<BuildOptions, 'stdin' | 'entryPoints'>,
): Promise<BuiltScript> {
  // Below the packages, which the script does not contain.
  const file = join(root, 'node_modules', '.cache', 'planwave', `${name}-${randomUUID()}.cjs`);
  await build({
    ...source,
    outfile: file,
    bundle: true,
    platform: 'node',
    // Its packages are CommonJS. Imported from a module, each would be parsed once more for its exports.
    format: 'cjs',
    packages: 'external',
    logLevel: 'error',
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
