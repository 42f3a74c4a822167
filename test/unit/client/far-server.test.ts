import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/common';
import { listLateNotifications } from '../../../client/late-notifications.ts';
import type { ClientContext } from '../../../client/server-calls.ts';
import { findStoreWaits } from '../../../client/store-waits.ts';
import { listLongHistories } from '../../../client/stuck-workflows.ts';

const delayMs = 60;
const count = 60;

interface Described {
  readonly historyLength: number;
  readonly raw: object;
}

/** A server that answers each call after `delayMs`, about workflows named `run-0`, `run-1`, …, of which `run-7` is gone. */
function farServer(described: Described): { context: ClientContext; atOnce: () => number } {
  let asked = 0;
  let most = 0;
  const lists = {
    options: { loadedDataConverter: {} },
    async *list() {
      await sleep(delayMs);
      for (let n = 0; n < count; n += 1) {
        const typedSearchAttributes = { getAll: () => [] };
        yield { workflowId: `run-${n}`, typedSearchAttributes, status: { name: 'RUNNING' } };
      }
    },
    getHandle: (workflowId: string) => ({
      async describe() {
        most = Math.max(most, (asked += 1));
        await sleep(delayMs);
        asked -= 1;
        if (workflowId === 'run-7') throw new WorkflowNotFoundError('gone', workflowId, undefined);
        return described;
      },
    }),
  };
  const connection = {
    async withDeadline<T>(deadline: number, work: () => Promise<T>): Promise<T> {
      const late = Object.assign(new Error('late'), { code: 4, details: 'late', metadata: {} });
      const timeout = sleep(deadline - Date.now(), undefined, { ref: false }).then(() => {
        throw late;
      });
      return Promise.race([work(), timeout]);
    },
  };
  // No more of the context than these functions use.
  const context: ClientContext = Object.assign(Object.create(null), {
    address: 'far.test:7233',
    namespace: 'default',
    taskQueue: 'planwave',
    connection,
    lists,
  });
  return { context, atOnce: () => most };
}

it('many workflows are asked about in time although the server is far, some at once, without those that are gone', async () => {
  const { context, atOnce } = farServer({ historyLength: 50_000, raw: {} });
  const found = await listLongHistories(context);
  expect(found).toHaveLength(count - 1);
  expect(found.at(-1)).toMatchObject({ workflow_id: `run-${count - 1}` });
  expect(atOnce()).toBe(20);
});

it('waits for a store are looked up in time too, and late messages', async () => {
  const pendingActivities = [{ activityType: { name: 'openRun' }, attempt: 3 }];
  const { context } = farServer({ historyLength: 1, raw: { pendingActivities } });
  expect(await findStoreWaits(context, undefined)).toEqual([]);
  expect(await listLateNotifications(context)).toHaveLength(19);
});
