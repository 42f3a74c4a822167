import {
  findMiddlewareFaults,
  isMiddlewareList,
} from '../activities/middlewares/middleware-registry.ts';
import type { Middleware } from '../activities/ports/middleware.ts';
import { createShippedMiddlewares } from '../activities/middlewares/shipped-middlewares.ts';
import { badModule, importModule } from './import-module.ts';

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
  const module = { variable: 'PLANWAVE_MIDDLEWARES', file };
  const loaded = await importModule(module);
  const list = loaded['middlewares'];
  if (list === undefined) {
    throw badModule(module, ['it has no export "middlewares"'], 'export const middlewares = […]');
  }
  const faults = findMiddlewareFaults(list, shippedNames);
  if (faults.length === 0 && isMiddlewareList(list)) return list;
  const lines = faults.map((fault) => `middlewares${fault.startsWith('[') ? '' : ': '}${fault}`);
  throw badModule(module, lines, 'the example in docs/middlewares.md');
}
