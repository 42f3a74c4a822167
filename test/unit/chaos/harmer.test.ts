import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowNotFoundError } from '@temporalio/client';
import { Harmer } from '../../chaos/harmer.ts';
import type { InterruptionKind } from '../../chaos/interruption.ts';
import type { Blow } from '../../chaos/strike.ts';
import { createPrng } from '../../support/prng.ts';

const dir = mkdtempSync(join(tmpdir(), 'planwave-harmer-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** A run on the server, as far as a blow meets it. */
interface MetRun {
  readonly signal: () => Promise<void>;
  readonly status: 'RUNNING' | 'COMPLETED';
}

const open: MetRun = { signal: async () => {}, status: 'RUNNING' };
const ended: MetRun = {
  signal: async () => {
    throw new WorkflowNotFoundError('it has ended', 'run-1', undefined);
  },
  status: 'COMPLETED',
};

/** Strikes once. @param suffix Of the note that the worker writes; undefined when it writes nothing durably. */
async function strike(blow: Blow, kind: InterruptionKind, { run = open, suffix = '' } = {}) {
  const faultFile = join(mkdtempSync(join(dir, 'lane-')), 'order.json');
  const handle = {
    ...run,
    describe: async () => ({ status: { name: run.status }, runId: 'execution' }),
    fetchHistory: async () => ({
      events: [{ eventId: 4, workflowTaskCompletedEventAttributes: {} }],
    }),
  };
  const worker = { pid: 7, ended: new Promise(() => {}) };
  const lane = Object({
    client: {
      workflow: { getHandle: () => handle },
      connection: { workflowService: { resetWorkflowExecution: async () => ({}) } },
    },
    workers: [worker],
    faultFile,
    rehearsal: { calls: () => [] },
    gate: { open: () => {} },
    killWorker: async () => {},
    startWorker: async () => Date.now(),
  });
  const harmer = new Harmer({ lane, runId: 'run-1', random: createPrng(1), sites: Object({}) });
  const hurting = harmer.hurt(blow, kind, { kindUnhit: 'worker killed at a history event' });
  if (suffix !== '') {
    await sleep(100);
    const { untilMs } = Object(JSON.parse(readFileSync(faultFile, 'utf8')));
    if (untilMs > Date.now()) writeFileSync(`${faultFile}${suffix}`, '');
  }
  await hurting;
  return { kinds: harmer.interruptions.map((one) => one.kind), wasReset: harmer.wasReset };
}

const stop = { type: 'stop' } as const;
const reset = { type: 'reset', to: 1 } as const;
const flood = { type: 'flood', signals: 5 } as const;

it('a stop, a reset and a flood of a run that has ended are no harm', async () => {
  const met = { run: ended };
  expect((await strike(stop, 'run stopped')).kinds).toEqual(['run stopped']);
  expect((await strike(stop, 'run stopped', met)).kinds).toEqual([]);
  expect(await strike(reset, 'run reset')).toEqual({ kinds: ['run reset'], wasReset: true });
  expect(await strike(reset, 'run reset', met)).toEqual({ kinds: [], wasReset: false });
  expect((await strike(flood, 'flood of signals')).kinds).toEqual(['flood of signals']);
  expect((await strike(flood, 'flood of signals', met)).kinds).toEqual([]);
});

it('a stop that fails for another reason fails the campaign', async () => {
  const run = { ...open, signal: () => Promise.reject(new Error('unavailable')) };
  await expect(strike(stop, 'run stopped', { run })).rejects.toThrow('unavailable');
});

it('a full disk and a death at a write count if a worker notes that they were hit', async () => {
  const full = { type: 'fill the disk', nth: 1 } as const;
  const die = { type: 'die at a write', what: 'before', nth: 1 } as const;
  const dieKind = 'worker killed at a durable write';
  const found = await Promise.all([
    strike(full, 'disk full', { suffix: '.full.7' }),
    strike(full, 'disk full'),
    strike(die, dieKind, { suffix: '.7' }),
    strike(die, dieKind),
  ]);
  expect(found.map(({ kinds }) => kinds)).toEqual([
    ['disk full'],
    [],
    [dieKind],
    ['worker killed at a history event'],
  ]);
});
