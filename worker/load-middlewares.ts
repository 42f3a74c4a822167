import { pathToFileURL } from 'node:url';
import {
  findMiddlewareFaults,
  isMiddlewareList,
} from '../activities/middlewares/middleware-registry.ts';
import type { Middleware } from '../activities/ports/middleware.ts';
import { createShippedMiddlewares } from '../activities/middlewares/shipped-middlewares.ts';
import { BadSettings } from './worker-settings.ts';

/** Nothing is redacted to learn the names. */
export const shippedNames = createShippedMiddlewares({
  redactText: (text) => text,
}).map(({ name }) => name);

/**
 * The middlewares and guardrails of the worker's owner: the export `middlewares` of an ES module, loaded once a process.
 *
 * @param file an absolute path; undefined: none.
 * @throws {BadSettings} when the module can't be loaded, or exports something else.
 */
export async function loadMiddlewares(file: string | undefined): Promise<readonly Middleware[]> {
  if (file === undefined) return [];
  const loaded = await importModule(file);
  const list = loaded['middlewares'];
  if (list === undefined) {
    throw badModule(file, ['it has no export "middlewares"'], 'export const middlewares = […]');
  }
  const faults = findMiddlewareFaults(list, shippedNames);
  if (faults.length === 0 && isMiddlewareList(list)) return list;
  const lines = faults.map((fault) => `middlewares${fault.startsWith('[') ? '' : ': '}${fault}`);
  throw badModule(file, lines, 'the example in docs/middlewares.md');
}

async function importModule(file: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    const loaded: Readonly<Record<string, unknown>> = await import(pathToFileURL(file).href);
    return loaded;
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw badModule(file, [`it can't be loaded: ${said}`], 'node --check on it, and its imports');
  }
}

function badModule(file: string, faults: readonly string[], cure: string): BadSettings {
  const lines = faults.map((fault) => `- ${fault}`).join('\n');
  return new BadSettings(`PLANWAVE_MIDDLEWARES can't be used: ${file}\n${lines}\nTry: ${cure}.`);
}
