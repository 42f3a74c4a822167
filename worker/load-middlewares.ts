import {
  findMiddlewareFaults,
  isMiddlewareList,
  createShippedMiddlewares,
} from '../activities/middlewares/shipped-middlewares.ts';
import type { Middleware } from '../activities/ports/middleware.ts';
import { badModule, importModule } from './import-module.ts';
import { BadSettings } from './worker-settings.ts';

/** Nothing is redacted to learn the names. */
export const shippedNames = createShippedMiddlewares({
  redactText: (text) => text,
}).map(({ name }) => name);

/**
 * Loads the middlewares and guardrails of the worker's owner: those given, and the export `middlewares` of an ES module.
 *
 * @param file an absolute path; undefined: none.
 * @throws {BadSettings} when the module can't be loaded, or exports something else; when a given one has faults.
 */
export async function loadMiddlewares(
  file: string | undefined,
  given: readonly Middleware[] = [],
): Promise<readonly Middleware[]> {
  const faults = findMiddlewareFaults(given, shippedNames);
  if (faults.length > 0)
    throw new BadSettings(["middlewares can't be used:", ...faults].join('\n'));
  const taken = [...shippedNames, ...given.map(({ name }) => name)];
  return [...given, ...(file === undefined ? [] : await loadFile(file, taken))];
}

async function loadFile(file: string, taken: readonly string[]): Promise<readonly Middleware[]> {
  const module = { variable: 'PLANWAVE_MIDDLEWARES', file };
  const loaded = await importModule(module);
  const list = loaded['middlewares'];
  if (list === undefined) {
    throw badModule(module, ['it has no export "middlewares"'], 'export const middlewares = […]');
  }
  const faults = findMiddlewareFaults(list, taken);
  if (faults.length === 0 && isMiddlewareList(list)) return list;
  const lines = faults.map((fault) => `middlewares${fault.startsWith('[') ? '' : ': '}${fault}`);
  throw badModule(module, lines, 'the example in docs/middlewares.md');
}
