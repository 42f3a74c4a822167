import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { BadSettings } from '../../worker/worker-settings.ts';

/** A folder for modules of a test file, which is removed after its tests. */
export function useModuleFolder(): {
  readonly folder: string;
  /** Writes a module. A module is loaded once a path, so each test has a path of its own. @returns its path */
  readonly write: (path: string, text: string) => string;
} {
  const folder = mkdtempSync(join(tmpdir(), 'planwave-modules-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return {
    folder,
    write(path, text) {
      const file = join(folder, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return file;
    },
  };
}

/** Returns what is wrong with a module that can't be loaded. */
export async function faultOf(loading: Promise<unknown>): Promise<string> {
  const error: unknown = await loading.then(
    () => new Error('It was loaded.'),
    (reason: unknown) => reason,
  );
  if (error instanceof BadSettings) return error.message;
  throw error;
}
