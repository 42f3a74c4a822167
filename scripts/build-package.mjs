import { cp, readdir, rm, writeFile } from 'node:fs/promises';
import { extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { existsSync } from 'node:fs';
import { runCommand } from './bootstrap/run-command.mjs';

// npm runs this file before it packs: it fills `dist` with what the package contains.

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');

/** Commands that call the installed package, in the place of those of a checkout. */
const entryPoints = {
  client: 'npx planwave',
  start: 'npx planwave start',
  dev: 'npx planwave dev',
  worker: 'npx planwave worker',
  temporal: 'npx planwave temporal server start-dev',
  rehearsal: 'npx planwave rehearsal',
};

const compiled = await runCommand(process.execPath, [compilerFile(), '-b'], { cwd: root });
if (!compiled.ok) {
  console.error(compiled.output);
  process.exit(1);
}
await removeOrphans();
await copyAssets();
await writeFile(
  join(dist, 'core', 'text', 'entry-points.js'),
  `export const entryPoints = ${JSON.stringify(entryPoints)};\n`,
);

/** @returns {string} */
function compilerFile() {
  return join(root, 'node_modules', 'typescript', 'bin', 'tsc');
}

/** Removes what the compiler wrote for sources that are gone. */
async function removeOrphans() {
  for (const file of await listFiles(dist)) {
    const source = join(root, relative(dist, file)).replace(/\.map$/, '');
    const names = [
      source,
      source.replace(/\.d\.(m?)ts$/, '.$1ts'),
      source.replace(/\.d\.mts$/, '.mjs'),
      source.replace(/\.d\.cts$/, '.cjs'),
      source.replace(/\.js$/, '.ts'),
    ];
    if (!file.includes('.tsbuildinfo') && !names.some(existsSync)) await rm(file);
  }
}

/** Copies what the code reads beside itself and the compiler leaves out: agents, scripts and threads. */
async function copyAssets() {
  await cp(join(root, 'agents'), join(dist, 'agents'), { recursive: true });
  const folders = ['activities', 'client', 'core', 'rehearsal', 'scripts', 'worker', 'workflows'];
  const listed = await Promise.all(folders.map((folder) => listFiles(join(root, folder))));
  for (const file of listed.flat()) {
    const isAsset = ['.mjs', '.sh', '.css', '.html'].includes(extname(file));
    const copy = join(dist, relative(root, file));
    const isCompiled = existsSync(copy.replace(/\.mjs$/, '.d.mts'));
    if (isAsset && !isCompiled) await cp(file, copy);
  }
}

/**
 * @param {string} folder
 * @returns {Promise<string[]>}
 */
async function listFiles(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
