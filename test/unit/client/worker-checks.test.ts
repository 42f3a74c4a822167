import { checkModelQueues } from '../../../client/cli/commands/worker-checks.ts';
import type { CliSession } from '../../../client/cli/cli-session.ts';

/** Runs by the task queue of their model calls; '' for runs without one. */
type Runs = Readonly<Record<string, readonly string[]>>;

/** Checks with a server that knows these runs and these queues as polled. */
async function check(runs: Runs, polled: readonly string[]) {
  const asked: unknown[] = [];
  const session: CliSession = Object.create(null);
  Object.assign(session, {
    address: 'localhost:7233',
    namespace: 'default',
    client: {
      list: async () =>
        Object.entries(runs).flatMap(([model_queue, ids]) =>
          ids.map((run_id) => ({ run_id, load: model_queue === '' ? null : { model_queue } })),
        ),
    },
    connection: {
      withDeadline: (_deadline: number, work: () => unknown) => work(),
      workflowService: {
        describeTaskQueue: async (request: { taskQueue: { name: string } }) => {
          asked.push(request);
          const seconds = Math.floor(Date.now() / 1_000) - 10;
          const isPolled = polled.includes(request.taskQueue.name);
          return { pollers: isPolled ? [{ identity: 'x', lastAccessTime: { seconds } }] : [] };
        },
      },
    },
  });
  return { finding: await checkModelQueues(session), asked };
}

it('open runs whose model calls no worker takes are named with the cure', async () => {
  const runs = { '': ['plain'], 'old-key': ['a', 'b'], 'new-key': ['c'] };
  const { finding, asked } = await check(runs, ['new-key']);
  expect(finding).toEqual({
    ok: false,
    detail:
      'no worker polls the task queue on which open runs make their model calls, so these wait (old-key: "a", "b")',
    cure: 'start a worker with PLANWAVE_MODEL_QUEUE=old-key beside the others, until these runs have ended',
  });
  // Activities have pollers of their own.
  for (const name of ['new-key', 'old-key']) {
    const queue = { namespace: 'default', taskQueue: { name } };
    expect(asked).toContainEqual({ ...queue, taskQueueType: 2 });
    expect(asked).toContainEqual(expect.objectContaining({ ...queue, taskQueueTypes: [2] }));
  }
});

it('nothing is wrong when all queues are polled, or no run has one', async () => {
  expect((await check({ q: ['a'] }, ['q'])).finding).toEqual({
    ok: true,
    detail: 'workers poll q',
  });
  const { finding, asked } = await check({ '': ['plain'] }, []);
  expect(finding).toEqual({ ok: true, detail: 'no open run has one' });
  expect(asked).toEqual([]);
});
