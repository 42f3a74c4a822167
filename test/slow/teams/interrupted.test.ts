import { EventEmitter, once } from 'node:events';
import type { WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import { createFileReplyLedger } from '../../../activities/adapters/file-store/file-ledgers.ts';
import type { LoneOutcome } from '../../../contracts/delegation-run.ts';
import type {
  RecordedCall,
  Reply,
  ScriptedRequest,
  ScriptRule,
} from '../../../rehearsal/script.ts';
import { countReplies } from '../../chaos/conversation.ts';
import { watchHistories } from '../../chaos/history-watch.ts';
import type { SeenEvent } from '../../chaos/history-watch.ts';
import { readThread } from '../../chaos/read-thread.ts';
import { openTcpGate } from '../../chaos/tcp-gate.ts';
import { eventually } from '../../support/eventually.ts';
import { readTeam } from '../../support/play-team.ts';
import { callsOfRun, inFlight, openProcessStage } from '../../support/process-stage.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { delegates, does, gives, taskCriterion, teamInput } from '../../support/scripted-team.ts';
import { completed, held } from '../../support/scripted-work.ts';
import { openStage } from '../../support/stage.ts';
import type { Stage, StageOptions } from '../../support/stage.ts';
import { killProcesses, startWorkerProcess } from '../../support/worker-process.ts';
import { teamOf } from '../../support/executors.ts';

/** Until somebody cuts it: no test waits that long. */
const hangs = { pass: true, delayMs: 600_000 } as const;

const well = completed(taskCriterion);

const replies: readonly Reply[] = [
  delegates(gives('researcher'), gives('analyst')),
  delegates(gives('writer', 'Write it down.', { inputs: ['d1', 'd2'] })),
  { json: well },
];

/** The leader goes by its conversation, so a call that is made again gets the same reply. */
function answer({ task, body }: ScriptedRequest): Reply {
  const own: Reply = { json: well };
  return task?.leads === true ? (replies[countReplies(body)] ?? own) : own;
}

/** A team whose writer fails at its first attempt. */
function rulesOf(runId: string, first: readonly ScriptRule[] = []): ScriptRule[] {
  const fails = does({ agent: 'writer', nth: 1 }, { text: 'I', stop_reason: 'lost_heart' });
  return [...first, fails, { reply: answer }].map(({ match, reply }) => ({
    match: { ...match, callKeyIncludes: `${runId}/` },
    reply,
  }));
}

/** Calls of the leader, of the two parallel members, and of the writer. */
const n = 3 + 2 + 2;

function start(stage: Stage, runId: string): Promise<WorkflowHandleWithFirstExecutionRunId> {
  const input = teamInput(['researcher', 'analyst', 'writer'], {
    allow_parallel: true,
    timeout: 900,
    member_timeout: 600,
    input_middlewares: ['redact-secrets'],
    guardrails: { output: ['size-limit'] },
    thread_id: runId,
  });
  return stage.client.workflow.start('team', {
    taskQueue: stage.taskQueue,
    workflowId: runId,
    args: [input],
  });
}

/** Outcome of a team. `end` contains everything that must not depend on interruptions. */
interface Played {
  /** Outputs stand there by what is in them. */
  readonly end: unknown;
  readonly calls: readonly RecordedCall[];
}

async function finish(stage: Stage, runId: string): Promise<Played> {
  const result: LoneOutcome = await stage.client.workflow.getHandle(runId).result();
  const { status, reason, turns, output_ref } = result;
  const team = teamOf(result);
  const { report } = await readTeam(stage, runId, result);
  await expectPromisesKept(stage, runId, { orphans: true });
  return {
    end: {
      team: { status, reason, turns, output_ref, said: result.answer, notes: team?.notes },
      tasks: report.tasks.map(({ delegation_id, attempts, status: end, ...task }) => [
        delegation_id,
        end,
        attempts,
        task.output_ref,
      ]),
      thread: await readThread(stage.home, runId),
    },
    calls: callsOfRun(stage, runId),
  };
}

/** On a worker that nobody hurts. */
async function playWhole(runId: string, options: StageOptions): Promise<Played> {
  const stage = await openStage({ ...options, script: rulesOf(runId) });
  try {
    await start(stage, runId);
    return await finish(stage, runId);
  } finally {
    await stage.close();
  }
}

/** Teams that are killed while calls of theirs are in flight, or recorded with nobody told. */
const cutOff = ['leader-asked', 'members-asked', 'members-replied'] as const;

/** Kills one worker under three teams. */
async function playCutOff(): Promise<ReadonlyMap<string, Played>> {
  const [one, other] = [held({ json: well }), held({ json: well })];
  const stage = await openProcessStage({
    script: [
      ...rulesOf('leader-asked', [{ match: { leads: true, nth: 1 }, reply: hangs }]),
      ...rulesOf('members-asked', [
        does({ task: 'd1', nth: 1 }, hangs),
        does({ task: 'd2', nth: 1 }, hangs),
      ]),
      ...rulesOf('members-replied', [
        does({ task: 'd1' }, one.reply),
        does({ task: 'd2' }, other.reply),
      ]),
    ],
  });
  const gate = await openTcpGate(stage.address);
  try {
    const worker = await startWorkerProcess({ ...stage, address: gate.address });
    const [, , replied] = await Promise.all(cutOff.map((runId) => start(stage, runId)));
    await eventually(
      'five calls in flight',
      async () => inFlight(stage.rehearsal.calls()).length === 5,
    );
    // What the worker says from now on does not arrive.
    gate.hold();
    one.release();
    other.release();
    await untilRecorded(stage, replied);
    worker.signal('SIGKILL');
    expect(await worker.ended).toBe('SIGKILL');
    await stage.startWorker();
    return new Map(
      await Promise.all(cutOff.map(async (runId) => [runId, await finish(stage, runId)] as const)),
    );
  } finally {
    await gate.close();
    await stage.close();
  }
}

/** Waits until the ledger holds the replies to both members. */
async function untilRecorded(
  stage: Stage,
  run: WorkflowHandleWithFirstExecutionRunId | undefined,
): Promise<void> {
  const ledger = createFileReplyLedger(stage);
  const workflow_id = run?.workflowId ?? '';
  const [, ...calls] = callsOfRun(stage, workflow_id);
  expect(calls).toHaveLength(2);
  for (const { callKey } of calls) {
    const activity_id = callKey.split('/').at(-1) ?? '';
    const key = { workflow_id, run_id: run?.firstExecutionRunId ?? '', activity_id };
    await eventually(`the recorded reply of ${callKey}`, async () => {
      const [entry] = await ledger.find(key);
      return typeof entry === 'object' && entry !== null && 'result' in entry && entry.result;
    });
  }
}

const schedules =
  (activity: string) =>
  ({ event }: SeenEvent): boolean =>
    event.activityTaskScheduledEventAttributes?.activityType?.name === activity;

function waitsBeforeAnotherAttempt({ event }: SeenEvent): boolean {
  const summary = event.userMetadata?.summary?.data;
  return summary ? Buffer.from(summary).toString().includes('is tried again') : false;
}

/**
 * Some of what only a team does, in its order, and the calls that come next. A kill comes a moment after what it waits for:
 * until then these calls are not answered, so that it never comes after the end. `npm run chaos` has every moment.
 */
const moments = [
  { isAt: schedules('planTasks'), next: [{ task: 'd1' }, { task: 'd2' }], nth: 1 },
  { isAt: waitsBeforeAnotherAttempt, next: [{ agent: 'writer' }], nth: 2 },
] as const;

/** Kills one worker after the other under a team, each at its moment. */
async function playKilled(): Promise<Played> {
  const gates = moments.map(() => held({ json: well }));
  const waiting = moments.flatMap(({ next, nth }, at) =>
    next.map((match) => does({ ...match, nth }, gates[at]?.reply ?? { json: well })),
  );
  const stage = await openProcessStage({ script: rulesOf('team-killed', waiting) });
  const seen = new EventEmitter();
  const reached = moments.map((_moment, at) => once(seen, String(at)));
  const watch = watchHistories(stage.client, 'team-killed', (event) => {
    for (const [at, { isAt }] of moments.entries()) if (isAt(event)) seen.emit(String(at));
  });
  try {
    const run = await start(stage, 'team-killed');
    for (const [at, moment] of reached.entries()) {
      const worker = await startWorkerProcess(stage);
      await moment;
      worker.signal('SIGKILL');
      expect(await worker.ended).toBe('SIGKILL');
      gates[at]?.release();
      expect((await run.describe()).status.name).toBe('RUNNING');
    }
    await stage.startWorker();
    return await finish(stage, 'team-killed');
  } finally {
    await watch.stop();
    await stage.close();
  }
}

/** All attempts at one call have the same. */
function keysOf({ calls }: Played): readonly string[] {
  return [...new Set(calls.map(({ callKey }) => callKey))];
}

let whole: Played;
let uncached: Played;
let cut: ReadonlyMap<string, Played>;
let killed: Played;

// Side by side: most of the time they wait for what a death left lying.
beforeAll(async () => {
  [whole, uncached, cut, killed] = await Promise.all([
    playWhole('team-whole', {}),
    playWhole('team-uncached', { maxCachedWorkflows: 0 }),
    playCutOff(),
    playKilled(),
  ]);
});
afterAll(killProcesses);

it('a team that nobody hurts tries one task twice, and adds to its thread once', () => {
  expect(whole.calls).toHaveLength(n);
  expect(whole.end).toMatchObject({
    team: { status: 'completed' },
    tasks: [
      ['task.d1', 'completed', 1, expect.any(String)],
      ['task.d2', 'completed', 1, expect.any(String)],
      ['task.d3', 'completed', 2, expect.any(String)],
    ],
    thread: { messages: { length: 2 }, delegations: { length: 3 } },
  });
});

it('fault 1: kill -9 at planTasks and between two attempts at a task: it comes to the same, and no other call is made', () => {
  expect(killed.end).toEqual(whole.end);
  expect(keysOf(killed)).toHaveLength(keysOf(whole).length);
  // A kill that comes later than its moment finds the two members, or the writer, in their calls.
  expect(killed.calls.length).toBeGreaterThanOrEqual(n);
  expect(killed.calls.length).toBeLessThanOrEqual(n + 3);
});

it.each([
  ['its leader is asked', 'leader-asked', 1],
  ['two members are asked', 'members-asked', 2],
] as const)(
  'fault 2: kill -9 while %s: it comes to the same, and what was in flight is made again',
  (_when, runId, inFlightThen) => {
    const { end, calls = [] } = cut.get(runId) ?? {};
    expect(end).toEqual(whole.end);
    const cutCalls = calls.filter(({ outcome }) => outcome === 'client-closed');
    expect(cutCalls).toHaveLength(inFlightThen);
    expect(calls).toHaveLength(n + inFlightThen);
  },
);

it('fault 3: kill -9 between the replies of two members and their completions: nothing is bought again', () => {
  const { end, calls } = cut.get('members-replied') ?? {};
  expect(end).toEqual(whole.end);
  expect(calls).toHaveLength(n);
});

it('part of fault 7: a worker that keeps no workflow in memory comes to the same', () => {
  expect(uncached.end).toEqual(whole.end);
  expect(uncached.calls).toHaveLength(n);
});
