import { readdirSync, readFileSync } from 'node:fs';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { loadWorkflowBundle } from '../../worker/bundle-workflows.ts';
import { replayHistories } from '../../worker/replay-histories.ts';
import { tolerantCodec } from '../../worker/tolerant-codec.ts';
import { scenarios } from './scenarios.ts';

/** Histories that `record-histories.ts` recorded; its header says when and how to record again. */
const folder = fileURLToPath(new URL('histories', import.meta.url));
const files = readdirSync(folder);

let bundle: { readonly code: string };
beforeAll(async () => {
  // A refused history would be reported by the SDK, too.
  Runtime.install({
    logger: new DefaultLogger('ERROR'),
    telemetryOptions: { logging: { filter: 'OFF' } },
    shutdownSignals: [],
  });
  bundle = await loadWorkflowBundle();
}, 120_000);

function read(file: string): { readonly events: readonly Readonly<Record<string, unknown>>[] } {
  const stored: ReturnType<typeof read> = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  return stored;
}

function workflowIdOf(history: ReturnType<typeof read>): string {
  const started: { workflowId: string } = Object(
    history.events[0]?.['workflowExecutionStartedEventAttributes'],
  );
  return started.workflowId;
}

function replay(history: ReturnType<typeof read>): Promise<void> {
  return Worker.runReplayHistory(
    {
      workflowBundle: bundle,
      dataConverter: { payloadCodecs: [tolerantCodec] },
    },
    historyFromJSON(history),
    workflowIdOf(history),
  );
}

it('every scenario has its histories', () => {
  const names = scenarios.flatMap(({ keep }) =>
    Object.values(keep).flatMap(({ first, last }) =>
      [first, last].filter((name) => name !== undefined),
    ),
  );
  const recorded = new Set(files.map((file) => file.replace(/\.\d+\.\d+\.\d+(?=-)/, '')));
  expect(names.filter((name) => !recorded.has(`${name}.json`))).toEqual([]);
});

it.each(files)('%s replays', async (file) => {
  await expect(replay(read(file))).resolves.toBeUndefined();
});

it('every history replays with tracing and keys too, so that both can be set while runs are open', async () => {
  const traced = await loadWorkflowBundle({ traced: true, encrypted: true });
  const histories = files.map((file) => {
    const history = historyFromJSON(read(file));
    return { workflowId: workflowIdOf(read(file)), history };
  });
  const faults: string[] = [];
  for await (const { workflowId, fault } of replayHistories(histories, traced)) {
    if (fault !== null) faults.push(`${workflowId}: ${fault}`);
  }
  expect(faults).toEqual([]);
}, 120_000);

it('a worker that takes a design over at any of its workflow tasks finds its place', async () => {
  const designed = files.filter((file) => file.includes('-designed'));
  expect(designed).toHaveLength(3);
  // A worker begins with a history that ends in the start of a workflow task.
  const cuts = designed.flatMap((file) => {
    const { events } = read(file);
    return events.flatMap(({ eventType }, at) =>
      eventType === 'EVENT_TYPE_WORKFLOW_TASK_STARTED' ? [{ events: events.slice(0, at + 1) }] : [],
    );
  });
  expect(cuts.length).toBeGreaterThan(100);
  const histories = cuts.map((cut) => ({
    workflowId: workflowIdOf(cut),
    history: historyFromJSON(cut),
  }));
  const faults: (string | null)[] = [];
  for await (const { fault } of replayHistories(histories, bundle)) faults.push(fault);
  expect(faults).toEqual(cuts.map(() => null));
}, 300_000);

it('a history that the code did not make is refused', async () => {
  const { events } = read('delegation.0.1.0-tools.json');
  const name = 'activityTaskScheduledEventAttributes';
  const tampered = events.map((event) =>
    event[name] === undefined
      ? event
      : { ...event, [name]: { ...Object(event[name]), activityType: { name: 'storeText' } } },
  );
  await expect(replay({ events: tampered })).rejects.toThrow(/nondeterminism|determinism/i);
});

it.each(files)('%s names no machine', (file) => {
  const found: string[] = [];
  const { username, homedir } = userInfo();
  const names = [hostname(), homedir, ...(username.length > 4 ? [username] : [])];
  const look = (value: unknown, key: string): void => {
    if (typeof value === 'string') {
      const text = key === 'data' ? Buffer.from(value, 'base64').toString('utf8') : value;
      if (/\d@\w|\/(?:home|Users|tmp|work|root)\//.test(text)) found.push(text);
      if (names.some((name) => text.includes(name))) found.push(text);
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, one] of Object.entries(value)) look(one, name);
    }
  };
  look(read(file), '');
  expect(found).toEqual([]);
});
