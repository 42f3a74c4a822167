import { randomUUID } from 'node:crypto';
import { connectToServer } from '../../../client/connect.ts';
import { createPlanwaveClient } from '../../../client/planwave-client.ts';
import type { PlanwaveClient } from '../../../client/planwave-client.ts';
import { streamTeam } from '../../../client/stream-team.ts';
import type { TeamEvent, TextEvent } from '../../../client/team-event.ts';
import type { TeamInput } from '../../../contracts/team.ts';
import type { ScriptRule, StallReply } from '../../../rehearsal/script.ts';
import { eventually } from '../../support/eventually.ts';
import { runAt } from '../../support/run-at.ts';
import { openTcpGate } from '../../chaos/tcp-gate.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { delegates, does, gives, leads, taskCriterion } from '../../support/scripted-team.ts';
import { memberReply, takes, triad } from '../../support/scripted-triad.ts';
import { completed } from '../../support/scripted-work.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();
const closing: (() => Promise<void>)[] = [];
let client: PlanwaveClient;

/** A client of its own, as another process would have, by whatever way to the server. */
async function connect(address: string): Promise<PlanwaveClient> {
  const server = await connectToServer({ address });
  closing.push(() => server.connection.close());
  return createPlanwaveClient({ ...server, taskQueue: stage.taskQueue });
}

beforeAll(async () => {
  client = await connect(stage.address);
});
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

const sentences = Array.from({ length: 40 }, (_, at) => `Sentence ${at} of the member.`).join(' ');
const output = { ...completed(taskCriterion), detailed_md: `# Result\n\n${sentences}\n` };
const done = { output: completed(taskCriterion) };
const refusal = { status: 400, message: 'This model refuses.' };

/** Falls silent after half of it, until nobody listens any more. */
const neverDone: StallReply = { json: output, stall: 'in-stream', thinkMs: 2_000 };

async function startTeam(
  script: readonly ScriptRule[],
  over: Partial<TeamInput> = {},
): Promise<string> {
  stage.rehearsal.script(script);
  const input: TeamInput = {
    message: 'Bake a loaf.',
    members: ['researcher', 'writer'],
    allow_parallel: true,
    max_retries: 0,
    ...over,
  };
  const { workflowId } = await stage.start('team', input, `stream-${randomUUID().slice(0, 8)}`);
  return workflowId;
}

/** Reads a stream until an event fits. What is not read then is left to the next stream. */
async function readUntil(
  stream: AsyncIterable<TeamEvent>,
  fits: (event: TeamEvent) => boolean,
): Promise<TeamEvent[]> {
  const events: TeamEvent[] = [];
  for await (const event of stream) {
    events.push(event);
    if (fits(event)) break;
  }
  return events;
}

const isText = ({ type }: TeamEvent): boolean => type === 'text';
const never = (): boolean => false;

const textsOf = (events: readonly TeamEvent[], of: string): TextEvent[] =>
  events.flatMap((event) => (event.type === 'text' && event.delegation_id === of ? [event] : []));
const endsOf = (events: readonly TeamEvent[]) =>
  events.flatMap((event) =>
    event.type === 'delegation' && event.state !== 'running'
      ? [[event.delegation_id, event.state, event.reason]]
      : [],
  );

/** Counts the events of a team once nothing is at work in it but the call of its member. */
async function countEvents(runId: string): Promise<number> {
  let before = 0;
  return eventually('one call at work alone', async () => {
    const { raw, historyLength } = await stage.client.workflow.getHandle(runId).describe();
    const isSame = historyLength === before;
    before = historyLength;
    const isAlone = raw.pendingActivities?.length === 1 && !raw.pendingWorkflowTask;
    return isSame && isAlone && historyLength;
  });
}

it('cases 7.1 and 7.2: a member fails and the others go on; a lost connection and another process go on without repeats', async () => {
  const runId = await startTeam([
    ...leads([[gives('researcher'), gives('writer')], done]),
    does({ agent: 'writer' }, refusal),
    does({ agent: 'researcher' }, { json: output, thinkMs: 12_000 }),
  ]);
  const gate = await openTcpGate(stage.address);
  closing.push(() => gate.close());
  const first = streamTeam(client, runId);
  const before = await readUntil(first, isText);

  const second = streamTeam(await connect(gate.address), runId, { cursor: first.cursor });
  const after: TeamEvent[] = [];
  for await (const event of second) {
    after.push(event);
    if (after.length === 1) gate.hold();
    if (event.type === 'notice') gate.open();
  }
  const events = [...before, ...after];

  expect(after.filter(({ type }) => type === 'notice')).toHaveLength(2);
  expect(endsOf(events)).toEqual([
    ['task.d2', 'failed', expect.stringContaining('This model refuses.')],
    ['task.d1', 'completed', ''],
  ]);
  const texts = textsOf(events, 'task.d1');
  expect(texts.length).toBeGreaterThan(1);
  for (const [at, { position, gap }] of texts.entries()) {
    const last = texts[at - 1];
    expect([position, gap]).toEqual([last ? last.position + last.text.length : 0, false]);
  }
  expect(texts.map(({ text }) => text).join('')).toContain('Sentence 0 of the member.');
  const told = events.filter(({ type }) => type !== 'notice').map((event) => JSON.stringify(event));
  expect(new Set(told).size).toBe(told.length);
  expect(events.slice(-2)).toMatchObject([
    { type: 'answer' },
    { type: 'end', status: 'completed', members: [{}, {}] },
  ]);
  await expectPromisesKept(stage, runId);
});

it('case 7.1: a stream writes nothing into history, ends with an error when the server is lost, and the team works on', async () => {
  const runId = await startTeam([
    ...leads([[gives('researcher')], done]),
    does({ agent: 'researcher' }, neverDone),
  ]);
  const gate = await openTcpGate(stage.address);
  closing.push(() => gate.close());
  const remote = await connect(gate.address);
  await readUntil(streamTeam(client, runId), isText);
  const count = await countEvents(runId);

  for (let streams = 0; streams < 3; streams += 1) {
    await readUntil(streamTeam(remote, runId, { pollEveryMs: 50 }), isText);
  }
  const lost = streamTeam(remote, runId, { giveUpAfterMs: 1 });
  const events = await readUntil(lost, (event) => {
    if (isText(event)) gate.hold();
    return false;
  });
  expect(events.slice(-2)).toMatchObject([
    { type: 'notice' },
    { type: 'error', code: 'unreachable' },
  ]);
  expect(await countEvents(runId)).toBe(count);

  const rest = streamTeam(client, runId, { cursor: lost.cursor });
  await client.stop(runId);
  const last = await readUntil(rest, never);
  expect(last.at(-1)).toMatchObject({ type: 'end', status: 'stopped' });
  await expectPromisesKept(stage, runId);
});

it('case 7.3: a leader that fails ends the stream with its error', async () => {
  const runId = await startTeam(leads([refusal]));
  const events = await readUntil(streamTeam(client, runId), never);
  expect(events.slice(-2)).toMatchObject([
    { type: 'error', code: 'team_failed', message: expect.stringContaining('refuses') },
    { type: 'end', status: 'failed' },
  ]);
  await expectPromisesKept(stage, runId);
});

it('what a leader decides, and what the members of a triad write, is told as it comes', async () => {
  // A call tells what it has written once a second.
  const slow = { thinkMs: 5_000 };
  const runId = await startTeam(
    [
      ...leads([{ ...delegates(gives('trio', sentences)), text: sentences, ...slow }, done]),
      takes(
        { member: 'proposer', phase: 'deliberate', nth: 1 },
        { ...memberReply({ said: sentences }), ...slow },
      ),
    ],
    { members: [{ id: 'trio', triad: triad('dialectic') }], timeout: 600, member_timeout: 600 },
  );
  const events = await readUntil(streamTeam(client, runId), ({ type }) => type === 'end');
  expect(textsOf(events, 'task').map(({ from }) => from)).toContain('leader');
  const written = textsOf(events, 'task.d1').map(({ text }) => text);
  expect(written.join('')).toContain('Sentence 0 of the member.');
  const phases = events.flatMap((event) => (event.type === 'delegation' ? [event.phase] : []));
  expect(phases).toEqual(expect.arrayContaining(['deliberate', null]));
  expect(events.at(-1)).toMatchObject({ type: 'end', status: 'completed' });
  await expectPromisesKept(stage, runId);
});

it('planwave team starts a rehearsed team, and prints its answer and what each cost', async () => {
  const runId = `team-${randomUUID().slice(0, 8)}`;
  const { code, out } = await runAt(
    stage.address,
    ['team', 'Bake a loaf.', '--members', 'researcher,writer', '--parallel', '--id', runId],
    {
      deps: {
        openSession: async (options) => {
          const server = await connectToServer(options);
          const close = () => server.connection.close();
          return {
            ...server,
            client: createPlanwaveClient({ ...server, taskQueue: stage.taskQueue }),
            close,
          };
        },
      },
    },
  );
  expect(code).toBe(0);
  // The rehearsed leader gives a task to each, and the last, given the result of the first, loads the whole of it.
  expect(out).toMatch(/Result: “researcher: [^]*Result: “writer: /);
  expect(out).toMatch(
    /leader {2,}2 [^]*researcher {2,}1 {2,}1 [^]*writer {2,}1 {2,}1 [^]*together {2,}4 /,
  );
});

it('a stream of a run that does not exist throws', async () => {
  await expect(readUntil(streamTeam(client, 'nobody'), never)).rejects.toThrow('There is no run');
});
