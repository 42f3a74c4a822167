import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkNode, ensurePackages } from './ensure-packages.mjs';
import { describeError, ExpectedError } from './expected-error.mjs';

/** True in the package that `npm pack` makes, which has JavaScript instead of the sources. */
export const isBuilt = existsSync(new URL('../main-planwave.js', import.meta.url));

/** The folder that holds package.json. */
export const root = fileURLToPath(new URL(isBuilt ? '../../..' : '../..', import.meta.url));

/** @returns {string} the version of planwave */
export function readVersion() {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;
}

/**
 * Runs one entry point: checks Node, installs the packages of a checkout when they are missing, then calls `main(args)`
 * of a file and ends with the exit code it returns. The TypeScript runs in this same process, so input, output and
 * signals need no forwarding.
 *
 * @param {string} file as seen from scripts/, for example `main-dev.ts`
 * @param {readonly string[]} [args] default: the command line's
 * @param {object} [options]
 * @param {boolean} [options.dev] the developer packages are needed too; default false
 * @param {boolean} [options.readsTypeScript] it imports modules of its user, which may be TypeScript; default false
 * @returns {Promise<void>} never returns: the process ends
 */
export async function handOver(
  file,
  args = process.argv.slice(2),
  { dev = false, readsTypeScript = false } = {},
) {
  process.exit(
    await exitCodeOf(async () => {
      checkNode();
      if (!isBuilt) await ensurePackages({ root, dev });
      if (!isBuilt || readsTypeScript) {
        const { register } = await import('tsx/esm/api');
        register();
      }
      process.setSourceMapsEnabled(true);
      const entry = isBuilt ? file.replace(/\.ts$/, '.js') : file;
      const { main } = await import(new URL(`../${entry}`, import.meta.url).href);
      return main(args);
    }),
  );
}

/**
 * @param {() => Promise<number>} work
 * @returns {Promise<number>} what `work` returned, or the error's exit code (1 for a defect) after it was shown
 */
export async function exitCodeOf(work) {
  try {
    return await work();
  } catch (error) {
    console.error(describeError(error));
    return error instanceof ExpectedError ? error.exitCode : 1;
  }
}
