import { createHash } from 'node:crypto';
import { hashModule } from './hash-module.ts';
import { hashSources } from './hash-sources.ts';

/** Folders whose content decides how a run continues: its code, its prompts, and the shipped agents. */
const folders = ['agents', 'contracts', 'core', 'workflows', 'activities', 'redaction', 'worker'];

/**
 * Identifies code and prompts of this checkout: two workers with the same id do the same. It is not a hash of the
 * bundle, which holds no prompts. Short, because six events of every turn name the code that ran them.
 *
 * @param files Modules of the worker's owner that are included; undefined for none.
 */
export async function computeBuildId(files: readonly (string | undefined)[] = []): Promise<string> {
  const sources = await hashSources(folders, 'package-lock.json');
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
