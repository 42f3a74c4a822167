import type { StoreIdentity } from '../../contracts/store.ts';
import { CliError, exitCodes, toShownError } from './cli-error.ts';
import type { CommandContext } from './command-runner.ts';
import { hasRunsOf, nameStore } from '../../core/run/run-place.ts';

/** Part of a run that a command needs: a database may have the record, and another home the working copies. */
type Needed = 'record' | 'copies';

/**
 * Explains that a run is kept in another store than the home of this shell, so that its files are not found here.
 *
 * @param kept null when the run recorded none.
 * @returns null when it is the same, or when this is not known.
 */
export async function describeOtherHome(
  { deps }: CommandContext,
  kept: StoreIdentity | null | undefined,
  needed: Needed = 'record',
): Promise<string | null> {
  if (deps.findStore === undefined || kept === null || kept === undefined) return null;
  const own = await deps.findStore().catch(() => null);
  if (own !== null && hasRunsOf(own, kept.id)) {
    return needed === 'copies' ? describeOtherCopies(own, kept) : null;
  }
  const here = own === null ? 'the home of this shell is new' : `this shell has ${nameStore(own)}`;
  return (
    `The run is kept in ${nameStore(kept)}; ${here}. Its files, report and changes are not found here. ` +
    'Try: set PLANWAVE_HOME to the home of its worker, on that host'
  );
}

/** Explains that the store of this shell has the run, and that its working copies are in another home. */
function describeOtherCopies(own: StoreIdentity, { home }: StoreIdentity): string | null {
  const here = own.home ?? own;
  if (home === undefined || hasRunsOf(here, home.id)) return null;
  const found = own.home === undefined ? 'is new' : `is ${nameHome(here)}`;
  return (
    `The working copies of the run's folder are in the home ${nameHome(home)}; that of this shell ${found}. Its changes are not ` +
    'found here. Try: set PLANWAVE_HOME to the home of its worker, on that host'
  );
}

function nameHome({ id, place }: StoreIdentity): string {
  return `${id} (${place})`;
}

/**
 * Does what needs the files of a run. If there are none here, because the run is kept elsewhere, the error says so.
 */
export async function inHomeOf<T>(
  context: CommandContext,
  runId: string,
  work: () => Promise<T>,
  needed: Needed = 'record',
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const shown = toShownError(error);
    if (shown.exitCode !== exitCodes.notFound) throw error;
    const elsewhere = await explainOtherHome(context, runId, needed);
    if (elsewhere === null) throw error;
    throw new CliError(shown.code, shown.exitCode, elsewhere, shown.data);
  }
}

/** Looks up where a run is kept. Never throws. */
export async function explainOtherHome(
  context: CommandContext,
  runId: string,
  needed: Needed = 'record',
): Promise<string | null> {
  try {
    const { client } = await context.session();
    return await describeOtherHome(context, (await client.describe(runId)).store, needed);
  } catch {
    return null;
  }
}
