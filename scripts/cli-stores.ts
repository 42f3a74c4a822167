import { openStores } from '../activities/adapters/open-stores.ts';
import { createTenantBudgets } from '../activities/load/tenant-budgets.ts';
import { StoreUnavailable } from '../activities/ports/artifact-store.ts';
import type { Stores } from '../activities/ports/stores.ts';
import { ThreadUnavailable } from '../activities/ports/thread-store.ts';
import type { ThreadStore } from '../activities/ports/thread-store.ts';
import { redactThreads } from '../activities/redaction/redact-ports.ts';
import type { TenantBudgets } from '../contracts/budget.ts';
import type { CliThreads } from '../client/cli/cli-deps.ts';
import { badInput, CliError, exitCodes } from '../client/cli/cli-error.ts';
import { createStoreCipher } from '../encryption/encrypting-codec.ts';
import type { Redactor } from '../redaction/create-redactor.ts';
import { BadSettings, readStoreSettings } from '../worker/worker-settings.ts';

/** @throws {CliError} when a setting is wrong. */
export function openCliStores(home: string, env: NodeJS.ProcessEnv): Stores {
  try {
    const settings = readStoreSettings(env);
    return openStores({ home, ...settings, cipher: createStoreCipher(settings.keys) });
  } catch (error) {
    throw inWordsOfTheCommandLine(error);
  }
}

export function inWordsOfTheCommandLine(error: unknown): unknown {
  if (error instanceof BadSettings) return badInput(error.message);
  if (error instanceof StoreUnavailable) {
    return new CliError('store_unavailable', exitCodes.unmet, error.message);
  }
  if (!(error instanceof ThreadUnavailable)) return error;
  return new CliError('threads_unavailable', exitCodes.unmet, error.message);
}

/** Opens the stores for one piece of work. @throws {CliError} for what the stores and their settings refuse. */
async function useStores<T>(
  home: string,
  env: NodeJS.ProcessEnv,
  work: (stores: Stores) => Promise<T>,
): Promise<T> {
  const stores = openCliStores(home, env);
  try {
    return await work(stores);
  } catch (error) {
    throw inWordsOfTheCommandLine(error);
  } finally {
    await stores.close();
  }
}

/**
 * Opens the threads where this environment keeps them. A name is redacted as a worker does it, so that what it has added
 * is found.
 *
 * @param home absolute.
 */
export function createCliThreads(
  home: string,
  env: NodeJS.ProcessEnv,
  redactor: Redactor,
): CliThreads {
  const use = <T>(work: (threads: ThreadStore) => Promise<T>): Promise<T> =>
    useStores(home, env, ({ threads }) => work(redactThreads(threads, redactor)));
  return {
    list: (options) => use((threads) => threads.list(options)),
    read: (threadId, limit) => use((threads) => threads.read(threadId, limit)),
    count: (which) => use((threads) => threads.count(which)),
    remove: (which) => use((threads) => threads.remove(which)),
  };
}

/**
 * Opens the budgets of tenants where this environment keeps them. Only `set` takes a new store into use: it may come before the
 * first worker.
 *
 * @param home absolute.
 */
export function createCliBudgets(home: string, env: NodeJS.ProcessEnv): TenantBudgets {
  const look = <T>(inNew: T, work: (budgets: TenantBudgets) => Promise<T>) =>
    useStores(home, env, async (stores) => {
      const fault = await stores.findFault();
      if (fault !== null) throw badInput(fault);
      if ((await stores.findIdentity()) === null) return inNew;
      return work(createTenantBudgets(stores.shared));
    });
  return {
    set: (tenant, limit) =>
      useStores(home, env, async (stores) => {
        const fault = await stores.open();
        if (fault !== null) throw badInput(fault);
        return createTenantBudgets(stores.shared).set(tenant, limit);
      }),
    read: (tenant) => look(null, (budgets) => budgets.read(tenant)),
    list: () => look([], (budgets) => budgets.list()),
    remove: (tenant) => look(false, (budgets) => budgets.remove(tenant)),
  };
}
