import { z } from 'zod';
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
import { badModule, importModule } from './import-module.ts';
import { BadSettings } from './worker-settings.ts';

const variable = 'PLANWAVE_TOOLS';

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
  return [...given.map(toTool), ...(file === undefined ? [] : await loadFile(file, taken))];
}

async function loadFile(file: string, taken: readonly string[]): Promise<readonly GrantableTool[]> {
  const module = { variable, file };
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

async function callTools(
  tools: CallableFunction,
  module: Parameters<typeof badModule>[0],
): Promise<unknown> {
  try {
    const list: unknown = await Reflect.apply(tools, undefined, [kit]);
    return list;
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw badModule(module, [`its function "tools" threw: ${said}`], 'correct it');
  }
}
