import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { atomicWriteFile } from '../activities/adapters/file-store/atomic-write-file.ts';

/** The workflows as one script for the sandbox. */
export interface WorkflowBundle {
  readonly code: string;
}

const root = fileURLToPath(new URL('..', import.meta.url));

/** What ends up in the bundle: the rooms that workflows may import, and the packages. */
const rooms = ['contracts', 'core', 'workflows'];
const packagesFile = join('node_modules', '.package-lock.json');

/**
 * Bundles the workflows, which takes seconds, or takes the bundle of the same sources and packages from the cache in
 * `node_modules/.cache`. Where that folder can't be written, every process bundles anew.
 */
export async function loadWorkflowBundle(): Promise<WorkflowBundle> {
  const file = join(root, 'node_modules', '.cache', 'planwave', `${await hashSources()}.js`);
  const cached = await readFile(file, 'utf8').catch(() => null);
  if (cached !== null) return { code: cached };
  const bundle = await bundleWorkflows();
  await atomicWriteFile(file, bundle.code).catch(() => undefined);
  return bundle;
}

/** Bundles the workflows as they are now. */
export async function bundleWorkflows(): Promise<WorkflowBundle> {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(root, 'workflows', `index.${extension}`),
    logger: new DefaultLogger('ERROR'),
  });
  return { code };
}

async function hashSources(): Promise<string> {
  const hash = createHash('sha256');
  for (const file of [packagesFile, ...(await listSources())].toSorted()) {
    hash.update(`${file}\0`).update(await readFile(join(root, file)));
  }
  return hash.digest('hex');
}

async function listSources(): Promise<string[]> {
  const perRoom = await Promise.all(
    rooms.map(async (room) => {
      const names = await readdir(join(root, room), { recursive: true });
      return names.filter((name) => /\.[jt]s$/.test(name)).map((name) => join(room, name));
    }),
  );
  return perRoom.flat();
}
