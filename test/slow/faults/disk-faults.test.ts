import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import type { RecordedCall, Reply, ScriptedRequest } from '../../../rehearsal/script.ts';
import { eventually } from '../../support/eventually.ts';
import { callerOf } from '../../support/heartbeat-timeouts.ts';
import { inFlight } from '../../support/process-stage.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { completed, decision, held, isFirstTurn, plan, work } from '../../support/scripted-work.ts';
import { openStage } from '../../support/stage.ts';
import type { Stage } from '../../support/stage.ts';
import { canMount, mountTinyDisk } from '../../support/tiny-disk.ts';
import { untilOnlyCalls } from '../../support/until-idle.ts';

/** A disk that a test breaks and mends. */
interface Disk {
  readonly home: string;
  breakIt(): Promise<void>;
  mend(): Promise<void>;
  close(): Promise<void>;
}

type OpenDisk = () => Promise<Disk>;

const fullDisk: OpenDisk = async () => {
  const disk = await mountTinyDisk();
  return { ...disk, breakIt: async () => disk.fill(), mend: async () => disk.free() };
};

const readOnlyDisk: OpenDisk = async () => {
  const disk = await mountTinyDisk();
  return { ...disk, breakIt: () => disk.setReadOnly(true), mend: () => disk.setReadOnly(false) };
};

/** As when a mount is gone: what stood in the folder is there again when it is mended. */
const lostFolder: OpenDisk = async () => {
  const root = mkdtempSync(join(tmpdir(), 'planwave-disk-'));
  const home = join(root, 'home');
  return {
    home,
    async breakIt() {
      renameSync(home, `${home}.away`);
      writeFileSync(home, 'in the way');
    },
    async mend() {
      rmSync(home);
      renameSync(`${home}.away`, home);
    },
    close: async () => rmSync(root, { recursive: true }),
  };
};

const disks: readonly (readonly [title: string, open: OpenDisk, said: string])[] = [
  ...(canMount
    ? ([
        ['full', fullDisk, 'the disk is full (ENOSPC). Try: free some space'],
        ['read-only', readOnlyDisk, 'the file system is read-only (EROFS)'],
      ] as const)
    : []),
  ['gone', lostFolder, 'a part of the path is a file, not a directory (ENOTDIR)'],
];

let disk: Disk;
let stage: Stage;
afterEach(async () => {
  await stage.close();
  await disk.close();
});

/** Plan, a turn that is sent back, the turn after it, decision. */
const callsPerRun = 4;

function replyTo({ shape, body }: ScriptedRequest): Reply {
  if (shape === 'plan') return { json: plan([work('task')]) };
  if (shape === 'decision') return { json: decision() };
  return isFirstTurn(body) ? { text: 'No JSON at all.' } : { json: completed('task-done') };
}

/** One run for each call that it makes: the first hangs in its first call, the second in its second, … */
async function hangInEveryCall() {
  const gate = held({ pass: true });
  stage.rehearsal.script([
    {
      async reply(request) {
        const [runId = ''] = request.callKey.split('/');
        const earlier = stage.rehearsal.calls().slice(0, request.index);
        const nth = earlier.filter((call) => call.callKey.startsWith(`${runId}/`)).length;
        if (runId.endsWith(`-${nth}`)) await gate.reply(request);
        return replyTo(request);
      },
    },
  ]);
  const numbers = Array.from({ length: callsPerRun }, (_, index) => index + 1);
  const runs = await Promise.all(
    numbers.map((nth) =>
      stage.start('plannerRun', { goal: 'Store a backup' }, `${stage.taskQueue}-${nth}`),
    ),
  );
  const hanging = await eventually('every run in its call', async () => {
    const calls = inFlight(stage.rehearsal.calls());
    const arrived = stage.rehearsal.counts().calls;
    return arrived === 1 + 2 + 3 + 4 && calls.length === runs.length && calls;
  });
  // The record is written beside the calls. What is written while the disk is filled would leave room on it.
  for (const run of runs) await untilOnlyCalls(stage, run.workflowId);
  return { runs, hanging, release: gate.release };
}

/** Reads what the server shows about the activities of the workflow that made a call. */
async function shownOf(call: RecordedCall): Promise<string> {
  const { raw } = await (await callerOf(stage, call)).describe();
  const shown = (raw.pendingActivities ?? []).map(({ lastFailure, heartbeatDetails }) => [
    lastFailure?.message,
    ...(heartbeatDetails?.payloads ?? []).map(({ data }) => Buffer.from(data ?? []).toString()),
  ]);
  return JSON.stringify(shown);
}

async function expectCompleted(runs: readonly WorkflowHandle[]): Promise<void> {
  for (const run of runs) {
    expect(await stage.result(run)).toMatchObject({ status: 'completed', waves: 1 });
  }
  for (const run of runs) {
    await expectPromisesKept({ ...stage, home: disk.home }, run.workflowId);
  }
}

/** Long enough for several attempts. */
const brokenMs = 4_000;

it.each(disks)(
  'fault 49: a disk that is %s while replies are on their way: they wait for it, and no call is bought again',
  async (_title, openDisk, said) => {
    disk = await openDisk();
    stage = await openStage({ settings: { home: disk.home } });
    const { runs, hanging, release } = await hangInEveryCall();
    await disk.breakIt();
    release();
    // The fault fired: whoever looks at a run sees what is wrong and what to do.
    for (const call of hanging) {
      await eventually('the reason', async () => (await shownOf(call)).includes(said));
    }
    await sleep(brokenMs);
    expect(stage.rehearsal.counts()).toMatchObject({ calls: 1 + 2 + 3 + 4, inFlight: 0 });
    await disk.mend();
    await expectCompleted(runs);
    expect(stage.rehearsal.counts().calls).toBe(runs.length * callsPerRun);
  },
);

it.each(disks)(
  'fault 49: a disk that is %s for longer than a reply can wait costs one call for each reply, whatever the attempts',
  async (_title, openDisk, said) => {
    disk = await openDisk();
    // Patience ends after a moment.
    stage = await openStage({ settings: { home: disk.home }, times: { retryBaseMs: 1 } });
    const { runs, hanging, release } = await hangInEveryCall();
    await disk.breakIt();
    release();
    for (const call of hanging) {
      await eventually('a third attempt', async () => {
        const { raw } = await (await callerOf(stage, call)).describe();
        return raw.pendingActivities?.some(({ attempt }) => Number(attempt) > 2);
      });
      expect(await shownOf(call)).toContain(said);
    }
    expect(stage.rehearsal.counts()).toMatchObject({ calls: 1 + 2 + 3 + 4, inFlight: 0 });
    await disk.mend();
    await expectCompleted(runs);
    // A reply that just fits into the last block of a segment is stored, and not bought again.
    const { calls } = stage.rehearsal.counts();
    expect(calls).toBeGreaterThan(runs.length * callsPerRun);
    expect(calls).toBeLessThanOrEqual(runs.length * (callsPerRun + 1));
  },
);
