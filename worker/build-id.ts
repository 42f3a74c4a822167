import { createHash } from 'node:crypto';
import { hashModule } from './hash-module.ts';
import { hashSources } from './hash-sources.ts';

/** What decides how a run goes on: its code, the prompts in it, and the agents that ship. */
const folders = ['agents', 'contracts', 'core', 'workflows', 'activities', 'redaction', 'worker'];

/**
 * Names code and prompts of this checkout: two workers with the same one do the same. Not a hash of the bundle, which
 * holds no prompts. Short, because six events of every turn name the code that ran them.
 *
 * @param middlewaresFile a module of the worker's owner that takes part; undefined: none.
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
