import { constants, readFileSync } from 'node:fs';
import { access, readFile, readdir } from 'node:fs/promises';
import { join, dirname, relative, resolve } from 'node:path';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { atomicWriteFile } from '../activities/adapters/file-store/atomic-write-file.ts';

/** Folders whose content decides how a run continues: its code, its prompts, and the shipped agents. */
const sourceFolders = [
  'agents',
  'contracts',
  'core',
  'workflows',
  'activities',
  'redaction',
  'encryption',
  'worker',
];

/**
 * Identifies code and prompts of this checkout: two workers with the same id do the same. It is not a hash of the
 * bundle, which holds no prompts. Short, because six events of every turn name the code that ran them.
 *
 * @param files Modules of the worker's owner that are included; undefined for none.
 */
export async function computeBuildId(files: readonly (string | undefined)[] = []): Promise<string> {
  const sources = await hashSources(sourceFolders, packageFiles.source);
  return `planwave+${(await addModules(sources, files)).slice(0, 12)}`;
}

async function addModules(
  sources: string,
  files: readonly (string | undefined)[],
): Promise<string> {
  const modules = await Promise.all(
    files.map(async (file) => (file === undefined ? '' : hashModule(file))),
  );
  if (modules.every((one) => one === '')) return sources;
  return createHash('sha256').update(sources).update(modules.join(',')).digest('hex');
}

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

/** True in the package that `npm pack` makes, which has JavaScript instead of the sources. */
const isBuilt = import.meta.url.endsWith('.js');

/** The folder that holds the folders of the code. */
export const root = fileURLToPath(new URL('..', import.meta.url));

/** Files that say which packages there are: the one of the source, and the one of what npm has installed. */
const packageFiles = isBuilt
  ? { source: '../package.json', installed: '../package.json' }
  : { source: 'package-lock.json', installed: join('node_modules', '.package-lock.json') };

/**
 * SHA-256 of the names and contents of code and agent files, in hexadecimal. Takes milliseconds, and is the same for
 * equal sources wherever the checkout lies.
 *
 * @param folders below the root; each is read with all folders in it
 * @param file one more, which says which packages there are
 */
async function hashSources(folders: readonly string[], file: string): Promise<string> {
  const perFolder = await Promise.all(folders.map(listSources));
  const hash = createHash('sha256');
  for (const path of [file, ...perFolder.flat()].toSorted()) {
    hash.update(`${path}\0`).update(await readFile(join(root, path)));
  }
  return hash.digest('hex');
}

async function listSources(folder: string): Promise<string[]> {
  const names = await readdir(join(root, folder), { recursive: true });
  return names
    .filter((name) => /\.(?:[cm]?[jt]s|md)$/.test(name))
    .map((name) => join(folder, name));
}

/** The workflows as one script for the sandbox: its text, or the absolute path of its file, of which the SDK keeps one copy less. */
export type WorkflowBundle = { readonly code: string } | { readonly codePath: string };

export function readBundle(bundle: WorkflowBundle): string {
  return 'code' in bundle ? bundle.code : readFileSync(bundle.codePath, 'utf8');
}

export interface BundleOptions {
  /** Includes the interceptors of OpenTelemetry, which cost memory in every cached workflow. Default false. */
  readonly traced?: boolean;
  /** Puts messages and stack traces of failures into payloads, where the codec encrypts them. Default false. */
  readonly encrypted?: boolean;
}

/** Path of the module that encodes failures, for the bundle and for the worker. */
export const encodedFailures = join(root, 'worker', 'encoded-failures.cjs');

/** Folders whose content decides the bundle: those that workflows may import, and the bundling itself. */
const rooms = ['contracts', 'core', 'workflows', 'worker'];

/**
 * Returns the bundle from the cache in `node_modules/.cache` when sources and packages are unchanged; otherwise bundles
 * the workflows, which takes seconds. Where that folder can't be written, every process bundles anew.
 */
export async function loadWorkflowBundle(options: BundleOptions = {}): Promise<WorkflowBundle> {
  const hash = await hashSources(rooms, packageFiles.installed);
  const kinds = `${options.traced === true ? '-traced' : ''}${options.encrypted === true ? '-encrypted' : ''}`;
  const name = `${hash}${kinds}.js`;
  const file = join(root, 'node_modules', '.cache', 'planwave', name);
  const isThere = await access(file, constants.R_OK).then(
    () => true,
    () => false,
  );
  if (isThere) return { codePath: file };
  const code = await bundleWorkflows(options);
  // Another user of the machine may start the worker: the script is as public as the sources.
  return atomicWriteFile(file, code, { access: 'shared' }).then(
    () => ({ codePath: file }),
    () => ({ code }),
  );
}

/**
 * Bundles the present workflows into one script, and returns its text.
 *
 * All workflows of a process share one copy of the modules, which hold no state (`test/architecture` checks that) and
 * whose exports the SDK freezes. With one copy each, the SDK's default, a cached workflow took 289 KB more, and its
 * start 3 ms more of processor time. Its source map names files and lines without their text, which every worker would
 * parse and keep: 70 ms of its start and 60 MB. Its characters are those of Latin-1, others are escaped: V8 takes two bytes
 * for each character of a text that has a single other one.
 */
export async function bundleWorkflows({
  traced = false,
  encrypted = false,
}: BundleOptions = {}): Promise<string> {
  const extension = isBuilt ? 'js' : 'ts';
  const room = join(root, 'workflows');
  const workflowsPath = join(room, `index.${extension}`);
  const { code } = await bundleWorkflowCode({
    workflowsPath,
    preloadModules: [workflowsPath],
    workflowInterceptorModules: [
      // The outermost: it must see an activation before another changes it.
      join(room, 'shared', `task-order.${extension}`),
      join(room, 'shared', `signal-intake.${extension}`),
      join(room, 'shared', `store-stamp.${extension}`),
      ...(traced ? [join(room, 'tracing', `interceptors.${extension}`)] : []),
    ],
    ...(encrypted && { failureConverterPath: encodedFailures }),
    webpackConfigHook: (config) => ({ ...config, devtool: 'inline-nosources-source-map' }),
    logger: new DefaultLogger('ERROR'),
  });
  return code.replaceAll(/[^\0-\xFF]/g, escapeUnit);
}

/** Writes a UTF-16 unit as JavaScript's texts and patterns may have it. */
function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
