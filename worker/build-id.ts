import { hashSources } from './hash-sources.ts';

/** What decides how a run goes on: its code, the prompts in it, and the agents that ship. */
const folders = ['agents', 'contracts', 'core', 'workflows', 'activities', 'redaction', 'worker'];

/**
 * Names code and prompts of this checkout: two workers with the same one do the same. Not a hash of the bundle, which
 * holds no prompts. Short, because six events of every turn name the code that ran them.
 */
export async function computeBuildId(): Promise<string> {
  const hash = await hashSources(folders, 'package-lock.json');
  return `planwave+${hash.slice(0, 12)}`;
}
