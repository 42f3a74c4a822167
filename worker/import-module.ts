import { pathToFileURL } from 'node:url';
import { BadSettings } from './worker-settings.ts';

/** Imports modules of the worker's owner, which one setting names. */
export interface OwnerModule {
  readonly variable: string;
  /** An absolute path. */
  readonly file: string;
}

/** @throws {BadSettings} when the module can't be loaded. */
export async function importModule(
  module: OwnerModule,
): Promise<Readonly<Record<string, unknown>>> {
  try {
    const loaded: Readonly<Record<string, unknown>> = await import(pathToFileURL(module.file).href);
    return loaded;
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw badModule(module, [`it can't be loaded: ${said}`], 'node --check on it, and its imports');
  }
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
