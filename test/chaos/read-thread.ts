import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createSqliteThreadStore } from '../../activities/adapters/thread-store/sqlite-thread-store.ts';

/** Content of a thread without its times. */
export interface ThreadFacts {
  /** `<who>: <text>`, oldest first. */
  readonly messages: readonly string[];
  /** `<member>: <task>: completed: <result>`, newest first. */
  readonly delegations: readonly string[];
}

/** More than any run adds. */
const keptMax = 100;

/** The thread that is called as a run; null when no run of the home has one. */
export async function readThread(home: string, threadId: string): Promise<ThreadFacts | null> {
  if (!existsSync(join(home, 'threads.db'))) return null;
  const threads = createSqliteThreadStore({ home });
  try {
    const { messages, delegations } = await threads.load(threadId, {
      messages: keptMax,
      delegations: keptMax,
      exceptRun: '',
    });
    return {
      messages: messages.map(({ role, text }) => `${role}: ${text}`),
      delegations: delegations.map(({ delegation: { member_id, task, status, result } }) =>
        [member_id, task, status, result].join(': '),
      ),
    };
  } finally {
    await threads.close();
  }
}
