import type { Command } from 'commander';
import type { TenantDayView } from '../../../contracts/budget.ts';
import type { StoreIdentity } from '../../../contracts/store.ts';
import { nameStore } from '../../../core/run/run-place.ts';
import { commandText, countOf, formatDollars } from '../../../core/text/format.ts';
import { listNames } from '../../../core/text/list-names.ts';
import { PlanwaveClientError } from '../../client-error.ts';
import { taskQueueOf } from '../../connect.ts';
import { formatTime } from '../../format-time.ts';
import { readQueue } from '../../task-queue.ts';
import { badInput, CliError, exitCodes } from '../cli-error.ts';
import type { CommandContext, CommandResult, CommandRunner } from '../command-runner.ts';
import { cleanLine, renderTable } from '../terminal-text.ts';
import { readAmount, readTenant } from './input-options.ts';

interface SetOptions {
  readonly usdPerDay: number;
}

const usdMax = 1_000_000;

/** Registers the commands for budgets of tenants. Each asks the server for the workers' stores. */
export function registerBudget(budget: Command, runner: CommandRunner): void {
  const tenant = ['<tenant>', 'name of the tenant, as in start --tenant'] as const;
  budget
    .command('set')
    .argument(...tenant)
    .description('limit what the calls of a tenant cost in a day; parked runs of it go on')
    .requiredOption('--usd-per-day <amount>', 'US dollars for each day of UTC', readAmount)
    .action(runner(setBudget));
  budget
    .command('show')
    .argument(...tenant)
    .description('show what a tenant has spent and reserved today')
    .action(runner(showBudget));
  budget.command('list').description('list the budgets of all tenants').action(runner(listBudgets));
  budget
    .command('remove')
    .argument(...tenant)
    .description('let a tenant spend without a limit; parked runs of it go on')
    .action(runner(removeBudget));
}

async function setBudget(
  context: CommandContext,
  name: string,
  { usdPerDay }: SetOptions,
): Promise<CommandResult> {
  const tenant = readTenant(name);
  if (usdPerDay > usdMax) {
    throw badInput('--usd-per-day takes at most 1,000,000 US dollars. Try: --usd-per-day 50');
  }
  const describeStore = await checkStore(context);
  const view = await context.deps.budgets.set(tenant, Math.round(usdPerDay * 1_000_000));
  const resumed = await resumeRuns(context, tenant);
  return {
    data: { ...view, ...resumed.data },
    lines: [describeDay(view), ...(await describeStore()), ...resumed.lines],
  };
}

async function showBudget(context: CommandContext, name: string): Promise<CommandResult> {
  const tenant = readTenant(name);
  const view = await context.deps.budgets.read(tenant);
  const elsewhere = await describeOtherStore(context);
  if (view === null) throw noBudget(tenant, elsewhere);
  const noted = noteOtherStore(elsewhere);
  return { data: { ...view, ...noted.data }, lines: [describeDay(view), ...noted.lines] };
}

async function listBudgets(context: CommandContext): Promise<CommandResult> {
  const budgets = await context.deps.budgets.list();
  const elsewhere = await describeOtherStore(context);
  if (budgets.length === 0) {
    const set = commandText('budget', 'set', 'acme', '--usd-per-day', '50');
    const line =
      elsewhere === null
        ? `No tenant has a budget. Try: ${set}`
        : `No tenant has a budget in the store of this shell. ${elsewhere} Budgets there are not seen here. ${sameStore}`;
    return { data: { budgets }, lines: [cleanLine(line)] };
  }
  const rows = budgets.map(({ tenant, ...day }) => [
    tenant,
    formatDollars(day.limit_micro_usd),
    formatDollars(day.spent_micro_usd),
    formatDollars(day.reserved_micro_usd),
  ]);
  const head = ['tenant', 'a day (UTC)', 'spent today', 'reserved'];
  const noted = noteOtherStore(elsewhere);
  return {
    data: { budgets, ...noted.data },
    lines: [...renderTable(head, rows), ...noted.lines],
  };
}

async function removeBudget(context: CommandContext, name: string): Promise<CommandResult> {
  const tenant = readTenant(name);
  await checkStore(context);
  if (!(await context.deps.budgets.remove(tenant))) throw noBudget(tenant, null);
  const resumed = await resumeRuns(context, tenant);
  return {
    data: { tenant, removed: true, ...resumed.data },
    lines: [`The budget of ${tenant} was removed: its calls have no limit.`, ...resumed.lines],
  };
}

/** @returns null for a new store; undefined when it is not known. */
async function findStore({ deps }: CommandContext): Promise<StoreIdentity | null | undefined> {
  // The change itself says why a store can't be read.
  return deps.findStore?.().catch(() => undefined);
}

/**
 * Checks that workers of the task queue have the store of this shell: a limit in another one limits nothing.
 *
 * @returns what to say of the store after the change.
 * @throws {CliError} when all of them have other stores.
 */
async function checkStore(context: CommandContext): Promise<() => Promise<readonly string[]>> {
  const own = await findStore(context);
  if (own === undefined) return async () => [];
  const taskQueue = taskQueueOf(context.deps.env);
  const stores = await readStores(context, taskQueue);
  const others = explainOthers(own, stores, taskQueue);
  if (others !== null) {
    const message = `${others} A budget here limits none of their calls, so nothing was changed. ${sameStore}`;
    throw new CliError('other_store', exitCodes.unmet, message, { stores });
  }
  const note =
    stores.length > 0
      ? ''
      : ` No worker of the task queue ${taskQueue} has told its store: theirs must be the same.`;
  return async () => {
    const store = await findStore(context);
    return store === null || store === undefined
      ? []
      : [cleanLine(`The budget is kept in ${nameStore(store)}.${note}`)];
  };
}

const sameStore = 'Try: set PLANWAVE_HOME and PLANWAVE_STORE_URL as the workers have them';

/** @returns null when a worker has the store of this shell, and when none has told its own. */
function explainOthers(
  own: StoreIdentity | null,
  stores: readonly string[],
  taskQueue: string,
): string | null {
  if (stores.length === 0 || stores.some((id) => id === own?.id)) return null;
  const here = own === null ? 'the home of this shell is new' : `this shell has ${nameStore(own)}`;
  return `The workers of the task queue ${taskQueue} have the store ${stores.join(', ')}, and ${here}.`;
}

/** Explains that the workers of the task queue have other stores than this shell; null when this is not known. */
async function describeOtherStore(context: CommandContext): Promise<string | null> {
  const own = await findStore(context);
  if (own === undefined) return null;
  const taskQueue = taskQueueOf(context.deps.env);
  return explainOthers(own, await readStores(context, taskQueue), taskQueue);
}

/** Says beside budgets that were found that they limit no call of those workers. @param elsewhere Null where they do. */
function noteOtherStore(elsewhere: string | null): {
  readonly data: { readonly note?: string };
  readonly lines: readonly string[];
} {
  if (elsewhere === null) return { data: {}, lines: [] };
  const note = `${elsewhere} A budget here limits none of their calls. ${sameStore}`;
  return { data: { note }, lines: [cleanLine(note)] };
}

/** Returns the ids of the stores of the workers that poll. None when the server can't be reached. */
async function readStores(context: CommandContext, taskQueue: string): Promise<readonly string[]> {
  try {
    return [...(await readQueue(await context.session(), taskQueue)).stores.keys()];
  } catch (error) {
    if (!(error instanceof PlanwaveClientError)) throw error;
    return [];
  }
}

/** Lets parked runs go on at once. Where the server can't be reached, they look again by themselves. */
async function resumeRuns(
  { session }: CommandContext,
  tenant: string,
): Promise<{ readonly data: object; readonly lines: readonly string[] }> {
  try {
    const { client } = await session();
    const resumed = await client.resumeParked(tenant);
    if (resumed.length === 0) return { data: { resumed }, lines: [] };
    const runs = countOf(resumed.length, 'parked run');
    return {
      data: { resumed },
      lines: [cleanLine(`${runs} told to go on: ${listNames(resumed)}.`)],
    };
  } catch (error) {
    if (!(error instanceof PlanwaveClientError)) throw error;
    const when = 'Runs that are parked for it go on by themselves within an hour';
    return {
      data: { resumed: [], not_resumed: error.message },
      lines: [cleanLine(`${when}, or after ${commandText('resume')} <run>. ${error.message}`)],
    };
  }
}

function describeDay(view: TenantDayView): string {
  const { tenant, limit_micro_usd, spent_micro_usd, reserved_micro_usd, ends_at } = view;
  const reserved =
    reserved_micro_usd === 0
      ? ''
      : `, ${formatDollars(reserved_micro_usd)} reserved by calls in progress`;
  return `${tenant}: ${formatDollars(spent_micro_usd)} of ${formatDollars(limit_micro_usd)} spent today${reserved}. The day ends ${formatTime(ends_at)} UTC.`;
}

/** @param elsewhere Why budgets of the workers are not seen here; null when they would be. */
function noBudget(tenant: string, elsewhere: string | null): CliError {
  const set = commandText('budget', 'set', tenant, '--usd-per-day', '50');
  const message =
    elsewhere === null
      ? `The tenant ${tenant} has no budget, so its calls have no limit. Try: ${set}`
      : `The tenant ${tenant} has no budget in the store of this shell. ${elsewhere} A budget there is not seen here. ${sameStore}`;
  return new CliError('not_found', exitCodes.notFound, message);
}
