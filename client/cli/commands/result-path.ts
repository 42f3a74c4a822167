import { join } from 'node:path';
import type { CommandContext } from '../command-runner.ts';
import { cleanLine } from '../text/clean-text.ts';

/** Folder below which a worker on this machine writes. */
export function artifactHome({ deps }: CommandContext): string {
  return deps.env['PLANWAVE_HOME'] ?? '.planning';
}

/** Where a file of a run is, for a worker on this machine. */
export function resultPath(context: CommandContext, path: string): string {
  return cleanLine(join(artifactHome(context), path));
}
