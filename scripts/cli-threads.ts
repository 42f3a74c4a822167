import { ThreadUnavailable } from '../activities/ports/thread-store.ts';
import type { ThreadStore } from '../activities/ports/thread-store.ts';
import { redactThreads } from '../activities/redaction/redact-ports.ts';
import { badInput, CliError } from '../client/cli/cli-error.ts';
import type { CliThreads } from '../client/cli/cli-threads.ts';
import { exitCodes } from '../client/cli/exit-codes.ts';
import type { Redactor } from '../redaction/create-redactor.ts';
import { BadSettings, readThreadsUrl } from '../worker/worker-settings.ts';

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
  async function use<T>(work: (threads: ThreadStore) => Promise<T>): Promise<T> {
    let threads: ThreadStore | undefined;
    try {
      const threadsUrl = readThreadsUrl(env);
      // No other command has to load the databases.
      const { createThreadStore } =
        await import('../activities/adapters/thread-store/create-thread-store.ts');
      threads = redactThreads(createThreadStore({ home, threadsUrl }), redactor);
      return await work(threads);
    } catch (error) {
      throw inWordsOfTheCommandLine(error);
    } finally {
      await threads?.close();
    }
  }

  return {
    list: (options) => use((threads) => threads.list(options)),
    read: (threadId, limit) => use((threads) => threads.read(threadId, limit)),
    count: (which) => use((threads) => threads.count(which)),
    remove: (which) => use((threads) => threads.remove(which)),
  };
}

function inWordsOfTheCommandLine(error: unknown): unknown {
  if (error instanceof BadSettings) return badInput(error.message);
  if (!(error instanceof ThreadUnavailable)) return error;
  return new CliError('threads_unavailable', exitCodes.unmet, error.message);
}
