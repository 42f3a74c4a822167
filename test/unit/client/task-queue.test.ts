import { Connection } from '@temporalio/client';
import { describeSilence, type Poll } from '../../../client/task-queue.ts';

const here = {
  connection: Connection.lazy(),
  address: 'temporal.test:7233',
  namespace: 'prod',
  taskQueue: 'planwave',
};
const run = { run_id: 'run-1', task_queue: 'planwave', version: null };
const now = (): number => Date.now() / 1_000;

/** @param current The version that takes new runs. */
function silence(
  polls: readonly Poll[],
  of: Partial<typeof run | { version: string }> = {},
): string {
  const versions = polls.filter(({ at }) => now() - at < 60).map(({ version }) => version);
  return describeSilence(
    here,
    { ...run, ...of },
    { polls, versions, current: null, stores: new Map() },
  );
}

it('a worker that polled a moment ago may be slow: nothing says that none is running', () => {
  const text = silence([
    { at: now() - 600, version: null },
    { at: now() - 30, version: null },
  ]);
  expect(text).toBe(
    'No worker answered. One asked for work in the last 90 seconds, so it is busy or has just ended; this is the ' +
      'last known state. Try: the same command again in a minute, or, if it ended, npm run worker (or npm run dev)',
  );
});

it('a worker that has not polled for long is told with the time of its last poll', () => {
  const at = Date.parse('2026-03-04T05:06:07Z') / 1_000;
  expect(
    silence([
      { at, version: null },
      { at: at - 600, version: null },
    ]),
  ).toBe(
    'No worker has asked for work since 2026-03-04 05:06 UTC; this is the last known state. ' +
      'Try: npm run worker (or npm run dev)',
  );
});

it('a server that has forgotten its workers, or never had one, is told as that', () => {
  expect(silence([])).toMatch(/^The server knows no worker that asks for work; this is the last/);
});

it('of a pinned run, only workers of its version count', () => {
  const polls = [{ at: now(), version: 'planwave:2' }];
  expect(silence(polls, { version: 'planwave:1' })).toBe(
    'The server knows no worker of version planwave:1 that asks for work, and the run is pinned to it; this is the ' +
      'last known state. Try: npm run planwave -- doctor',
  );
  expect(silence(polls, { version: 'planwave:2' })).toMatch(
    /^No worker of version planwave:2 answered\. One asked for work/,
  );
});

it('a task queue that nobody polls is told as a name that may be misspelt', () => {
  const text = silence([], { task_queue: 'planwav' });
  expect(text).toMatch(/^No worker polls the task queue "planwav", on which the run was started/);
  expect(text).toContain('The task queue here is "planwave".');
});
