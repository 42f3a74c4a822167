import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ThreadStore } from '../../activities/ports/thread-store.ts';
import type { DoctorFinding } from '../../client/cli/doctor-check.ts';
import { readThreadsUrl } from '../../worker/worker-settings.ts';
import { messageOf } from '../bootstrap/expected-error.mjs';

/** Finds out if the threads of teams can be read where this environment keeps them. */
export async function checkThreads(home: string, env: NodeJS.ProcessEnv): Promise<DoctorFinding> {
  const file = join(home, 'threads.db');
  let threads: ThreadStore | undefined;
  try {
    const threadsUrl = readThreadsUrl(env);
    if (threadsUrl === undefined && !existsSync(file)) {
      return { ok: true, detail: `${file}, made at its first use` };
    }
    const { createThreadStore } =
      await import('../../activities/adapters/thread-store/create-thread-store.ts');
    threads = createThreadStore({ home, threadsUrl });
    await threads.load('planwave doctor', { messages: 1, delegations: 1, exceptRun: '' });
    const where = threadsUrl === undefined ? file : 'the database of PLANWAVE_THREADS_URL';
    return { ok: true, detail: `${where} can be read` };
  } catch (error) {
    return {
      ok: false,
      detail: messageOf(error),
      cure: 'as it says there; teams work without their threads until then',
    };
  } finally {
    await threads?.close();
  }
}
