import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileReplyLedger } from '../../../activities/adapters/file-store/file-ledgers.ts';
import { readSites } from '../../chaos/call-sites.ts';
import { readAttempts } from '../../chaos/read-attempts.ts';
import type { StoredHistory } from '../../support/histories.ts';

const home = mkdtempSync(join(tmpdir(), 'planwave-sites-'));
afterAll(() => {
  rmSync(home, { recursive: true });
});

const wave = 'run/wave-001';
const inside = `${wave}/p1/writer/agent_output/4`;
const own = `${wave}/p2/writer/agent_output/4`;

/** An execution that makes one call as its activity 4. */
function calling(workflowId: string, type: string, delegation_id: string): StoredHistory {
  const input = { run_id: 'run', agent_id: 'writer', stage: 'delegation', delegation_id };
  return {
    workflowId,
    type,
    runId: `execution of ${workflowId}`,
    history: {
      events: [
        { workflowExecutionStartedEventAttributes: { workflowType: { name: type } } },
        {
          activityTaskScheduledEventAttributes: {
            activityId: '4',
            activityType: { name: 'modelTurn' },
            input: data(input),
          },
        },
      ],
    },
  };
}

/** A value as history holds it. */
function data(value: object) {
  return { payloads: [{ data: Buffer.from(JSON.stringify(value)) }] };
}

const histories = [calling(wave, 'plannerWave', 'p1'), calling(`${wave}/p2`, 'delegation', 'p2')];

it('a call is counted where it was made, though a delegation inside the wave has the same number', async () => {
  const ledger = createFileReplyLedger({ home });
  const spent = { calls: 1, unreported_calls: 0 };
  for (const { workflowId: workflow_id, runId: run_id } of histories) {
    await ledger.put({ workflow_id, run_id, activity_id: '4' }, 1, { version: 1, spent });
  }
  const keys = new Map([inside, own].map((key) => [key, key]));
  const once = { attempts: 1, told: 1, reserved: 0, free: 0 };
  expect(await readAttempts(ledger, 'run', keys, readSites(histories))).toEqual({
    [inside]: once,
    [own]: once,
  });
});

it('while its history has not told, a call is looked for in its own workflow, then in its wave', () => {
  const sites = readSites(histories);
  expect(sites.newest(own)).toMatchObject({ workflowId: `${wave}/p2` });
  expect(sites.newest(inside)).toMatchObject({ workflowId: wave });
  expect(sites.newest(`${wave}/p1/writer/agent_output/9`)).toEqual({
    workflowId: wave,
    runId: `execution of ${wave}`,
    activityId: '9',
  });
  expect(readSites([]).newest(own)).toBeNull();
});

it('a further call is known by the terms that its conversation keeps', () => {
  const [first] = histories;
  const events: NonNullable<StoredHistory['history']['events']> = Object([
    ...(first?.history.events ?? []).map((event, at) => ({
      ...event,
      eventId: at,
    })),
    {
      activityTaskCompletedEventAttributes: {
        scheduledEventId: 1,
        result: data({ head: 'one' }),
      },
    },
    {
      activityTaskScheduledEventAttributes: {
        activityId: '5',
        activityType: { name: 'modelTurn' },
        input: data({ head: 'one', delegation_id: 'p1' }),
      },
    },
  ]);
  const sites = readSites([
    { workflowId: wave, type: 'plannerWave', runId: 'r', history: { events } },
  ]);
  expect(sites.of(`${wave}/p1/writer/agent_output/5`)).toHaveLength(1);
});
