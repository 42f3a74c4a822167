import type { StoreIdentity } from '../../contracts/store.ts';
import { CliError, exitCodes, toShownError } from './cli-error.ts';
import type { CommandContext } from './command-runner.ts';
import { hasRunsOf, nameStore } from '../../core/run/run-place.ts';

/**
 * Explains that a run is kept in another store than the home of this shell, so that its files are not found here.
 *
 * @param kept null when the run recorded none.
 * @returns null when it is the same, or when this is not known.
 */
export async function describeOtherHome(
  { deps }: CommandContext,
  kept: StoreIdentity | null | undefined,
): Promise<string | null> {
  if (deps.findStore === undefined || kept === null || kept === undefined) return null;
  const own = await deps.findStore().catch(() => null);
  if (own !== null && hasRunsOf(own, kept.id)) return null;
  const here = own === null ? 'the home of this shell is new' : `this shell has ${nameStore(own)}`;
  return (
    `The run is kept in ${nameStore(kept)}; ${here}. Its files, report and changes are not found here. ` +
    'Try: set PLANWAVE_HOME to the home of its worker, on that host'
  );
}

/**
 * Does what needs the files of a run. If there are none here, because the run is kept elsewhere, the error says so.
 */
export async function inHomeOf<T>(
  context: CommandContext,
  runId: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const shown = toShownError(error);
    if (shown.exitCode !== exitCodes.notFound) throw error;
    const elsewhere = await explainOtherHome(context, runId);
    if (elsewhere === null) throw error;
    throw new CliError(shown.code, shown.exitCode, elsewhere, shown.data);
  }
}

/** Looks up where a run is kept. Never throws. */
export async function explainOtherHome(
  context: CommandContext,
  runId: string,
): Promise<string | null> {
  try {
    const { client } = await context.session();
    return await describeOtherHome(context, (await client.describe(runId)).store);
  } catch {
    return null;
  }
}
