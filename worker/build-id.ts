import { createHash } from 'node:crypto';
import { hashModule } from './hash-module.ts';
import { hashSources } from './hash-sources.ts';

/** Folders whose content decides how a run continues: its code, its prompts, and the shipped agents. */
const folders = ['agents', 'contracts', 'core', 'workflows', 'activities', 'redaction', 'worker'];

/**
 * Identifies code and prompts of this checkout: two workers with the same id do the same. It is not a hash of the
 * bundle, which holds no prompts. Short, because six events of every turn name the code that ran them.
 *
 * @param middlewaresFile A module of the worker's owner that is included; undefined for none.
 */
export async function computeBuildId(middlewaresFile?: string): Promise<string> {
  const sources = await hashSources(folders, 'package-lock.json');
  return `planwave+${(await addModule(sources, middlewaresFile)).slice(0, 12)}`;
}

async function addModule(sources: string, file: string | undefined): Promise<string> {
  if (file === undefined) return sources;
  return createHash('sha256')
    .update(sources)
    .update(await hashModule(file))
    .digest('hex');
}
