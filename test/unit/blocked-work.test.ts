import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Info } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import {
  listFrames,
  noteFileOf,
  refuseBlockedWork,
  type BlockedAttempt,
} from '../../worker/watchdog.ts';
import { MockActivityEnvironment } from '@temporalio/testing';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'planwave-blocked-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const activity = {
  workflowExecution: { workflowId: 'run/wave-001/build', runId: 'r1' },
  activityId: '7',
  activityType: 'modelTurn',
};

function note(number: number, over: Partial<typeof activity> = {}, text?: string): void {
  const file = noteFileOf(home, { ...activity, ...over, attempt: number });
  const noted: BlockedAttempt = {
    activity_type: activity.activityType,
    attempt: number,
    where: 'findKeys (redaction/private-key.ts:12:3)',
  };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text ?? JSON.stringify(noted));
}

/** Makes an attempt and returns its outcome. */
async function attempt(number: number, over: Partial<Info> = {}, order?: object): Promise<unknown> {
  const environment = new MockActivityEnvironment({ ...activity, ...over, attempt: number });
  const { inbound } = refuseBlockedWork(home)(environment.context);
  const done = inbound?.execute?.({ args: [order], headers: {} }, () => Promise.resolve('done'));
  return done?.catch((error: unknown) => error);
}

it('finding T1: work that has blocked three workers is not begun again, and says what blocked them', async () => {
  for (const number of [1, 2, 4]) note(number);
  expect(await attempt(5)).toBeInstanceOf(ApplicationFailure);
  expect(await attempt(5)).toMatchObject({
    type: 'Blocked',
    nonRetryable: true,
    message: expect.stringMatching(
      /^modelTurn of run\/wave-001\/build blocked 3 workers.*, in findKeys \(redaction\/private-key\.ts:12:3\)\. .*Try: /,
    ),
  });
});

it('finding T1: work of a delegation inside its wave is named by the delegation', async () => {
  const workflowExecution = { workflowId: 'run/wave-001', runId: 'r1' };
  for (const number of [1, 2, 4]) note(number, { workflowExecution });
  const wave = { workflowExecution, workflowType: 'plannerWave' };
  expect(await attempt(5, wave, { delegation_id: 'build.d2' })).toMatchObject({
    message: expect.stringContaining('modelTurn of run/wave-001/build blocked'),
  });
  expect(await attempt(5, wave, {})).toMatchObject({
    message: expect.stringContaining('modelTurn of run/wave-001 blocked'),
  });
});

it('finding T1: two blocks, blocks of other work, and a first attempt stop nobody', async () => {
  for (const number of [1, 2]) note(number);
  note(3, { activityId: '8' });
  note(3, { workflowExecution: { ...activity.workflowExecution, runId: 'r2' } });
  expect(await attempt(3)).toBe('done');
  note(3);
  expect(await attempt(1)).toBe('done');
});

it('finding T1: a note that its worker did not finish counts', async () => {
  for (const number of [1, 2, 3]) note(number, {}, '{"workflow_');
  expect(await attempt(4)).toMatchObject({
    type: 'Blocked',
    message: expect.stringContaining('blocked 3 workers, which had to be ended. '),
  });
});

it.each(['ts', 'js'])('what blocks a worker is not its watchdog, watchdog.%s', (ending) => {
  const stack = [
    'Error: Only for its stack',
    `    at readStack (file:///app/worker/watchdog.${ending}:212:35)`,
    `    at end (file:///app/worker/watchdog.${ending}:163:17)`,
    '    at <anonymous>:1:1',
    '    at findKeys (file:///app/redaction/private-key.js:12:3)',
  ].join('\n');
  expect(listFrames(stack)).toEqual([expect.stringMatching(/^findKeys /)]);
});
