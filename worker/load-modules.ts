/** Loads the modules of the worker's owner: tools and middlewares. */
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import {
  findMiddlewareFaults,
  isMiddlewareList,
  createShippedMiddlewares,
} from '../activities/middlewares/shipped-middlewares.ts';
import type { Middleware } from '../activities/ports/middleware.ts';
import {
  defineTool,
  findToolFaults,
  isToolList,
  NothingDone,
  toTool,
  type OwnTool,
} from '../activities/tools/own-tool.ts';
import { reservedNames } from '../activities/tools/registry/create-registry.ts';
import type { GrantableTool } from '../activities/tools/tool.ts';
import { BadSettings } from './worker-settings.ts';
import { messageOf } from '../core/text/message-of.ts';

/** Everything that a module needs to define tools: it imports nothing of planwave. */
const kit = {
  z,
  NothingDone,
  defineTool,
} as const;

/**
 * Loads the tools of the worker's owner: those given, and the export `tools` of an ES module, a function that is given the
 * kit.
 *
 * @param file An absolute path; undefined: none.
 * @throws {BadSettings} when the module can't be loaded, or exports something else; when a given tool has faults.
 */
export async function loadTools(
  file: string | undefined,
  given: readonly OwnTool[] = [],
): Promise<readonly GrantableTool[]> {
  const faults = findToolFaults(given, reservedNames);
  if (faults.length > 0) throw new BadSettings(["tools can't be used:", ...faults].join('\n'));
  const taken = [...reservedNames, ...given.map(({ name }) => name)];
  return [...given.map(toTool), ...(file === undefined ? [] : await loadToolFile(file, taken))];
}

async function loadToolFile(
  file: string,
  taken: readonly string[],
): Promise<readonly GrantableTool[]> {
  const module = { variable: 'PLANWAVE_TOOLS', file };
  const { tools } = await importModule(module);
  if (typeof tools !== 'function') {
    const cure = 'export const tools = ({ defineTool, z }) => [defineTool({…})]';
    throw badModule(module, ['it has no function "tools" among its exports'], cure);
  }
  const list = await callTools(tools, module);
  const faults = findToolFaults(list, taken);
  if (faults.length === 0 && isToolList(list)) return list.map(toTool);
  const lines = faults.map((fault) => `tools${fault.startsWith('[') ? '' : ': '}${fault}`);
  throw badModule(module, lines, 'the example in docs/tools.md');
}

async function callTools(tools: CallableFunction, module: OwnerModule): Promise<unknown> {
  try {
    const list: unknown = await Reflect.apply(tools, undefined, [kit]);
    return list;
  } catch (error) {
    throw badModule(module, [`its function "tools" threw: ${messageOf(error)}`], 'correct it');
  }
}

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
  return [...given, ...(file === undefined ? [] : await loadMiddlewareFile(file, taken))];
}

async function loadMiddlewareFile(
  file: string,
  taken: readonly string[],
): Promise<readonly Middleware[]> {
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

/** A module of the worker's owner, which one setting names. */
interface OwnerModule {
  readonly variable: string;
  /** An absolute path. */
  readonly file: string;
}

/** @throws {BadSettings} when the module can't be loaded. */
async function importModule(module: OwnerModule): Promise<Readonly<Record<string, unknown>>> {
  const isTypeScript = /\.m?ts$/.test(module.file);
  try {
    if (isTypeScript) await readTypeScript();
    const loaded: Readonly<Record<string, unknown>> = await import(pathToFileURL(module.file).href);
    return loaded;
  } catch (error) {
    const said = messageOf(error);
    const cure = isTypeScript
      ? 'npx tsc --noEmit on it; the ending .mts, or "type": "module" in the package.json of its folder'
      : 'node --check on it, and its imports';
    throw badModule(module, [`it can't be loaded: ${said}`], cure);
  }
}

/** Lets this process load TypeScript. Where planwave runs from its sources, it does so already. */
async function readTypeScript(): Promise<void> {
  if (import.meta.url.endsWith('.ts')) return;
  const { register } = await import('tsx/esm/api');
  register();
}

/** Describes a module that can't be used: setting, file, faults and cure. */
export function badModule(
  { variable, file }: OwnerModule,
  faults: readonly string[],
  cure: string,
): BadSettings {
  const lines = faults.map((fault) => `- ${fault}`).join('\n');
  return new BadSettings(`${variable} can't be used: ${file}\n${lines}\nTry: ${cure}.`);
}
