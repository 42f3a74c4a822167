import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CompletionSession } from '../../../contracts/note.ts';
import type { Usage } from '../../../contracts/usage.ts';
import type { Reply } from '../../../rehearsal/script.ts';
import { openQuestion, submit } from '../../support/asking.ts';
import { faultsOf } from '../../support/calls.ts';
import { eventually } from '../../support/eventually.ts';
import { expectPromisesKept } from '../../support/promises.ts';
import { does, gives, leads, taskCriterion, teamInput } from '../../support/scripted-team.ts';
import {
  blocked,
  callsOf,
  completed,
  decision,
  held,
  notYet,
  ownWorkflows,
  plan,
  plans,
  question,
  unmet,
  work,
  works,
} from '../../support/scripted-work.ts';
import { storedRecord, storedText } from '../../support/stored-record.ts';
import { useStage } from '../../support/use-stage.ts';

const { stage } = useStage();

const goal = 'Create the table of users';
const notes = (...entries: readonly object[]): Reply => ({
  tool_use: [{ name: 'completion_note', input: { notes: entries } }],
});

const resolvesItself = notes(
  {
    action: 'create',
    category: 'code_consistency',
    description: 'Columns are named as in orders.',
    context: 'Writing the table',
  },
  {
    action: 'resolve',
    category: 'requirements',
    description: 'Must emails be unique?',
    context: 'Writing the table',
    text: 'Took them to be unique.',
  },
);

const inputTokens = (usage: Usage): number =>
  usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;

interface SharedStatus {
  readonly agents: Readonly<Record<string, { readonly status: string }>>;
}

function statusIn(tree: string): SharedStatus {
  return JSON.parse(readFileSync(join(tree, 'shared_status.json'), 'utf8'));
}

const done = completed('table-done');

describe.each([
  ['inside its wave', {}],
  ['in a workflow of its own', ownWorkflows],
])('notes of a delegation %s', (_where, limits) => {
  it('hold its output back until they are resolved, and become questions', async () => {
    stage.rehearsal.script([
      plans(1, plan([work('table')])),
      works('table', resolvesItself, 1),
      works('table', { json: done }, 2),
      works('table', notes({ action: 'resolve', note_id: 'note_001', text: 'See orders.sql.' }), 3),
      works('table', { json: unmet('blocked', 'Waits.', 'table-done') }, 4),
      works('table', { json: done }, 5),
      { match: { schema: 'decision' }, reply: { json: decision() } },
    ]);
    const run = await stage.start('plannerRun', { goal, notes: true, limits });
    const asked = await openQuestion(stage, run);
    expect(asked).toMatchObject({
      text: 'Must emails be unique?',
      delegation_id: 'table',
      priority: 'critical',
    });
    expect(asked.why_it_matters).toContain('Took them to be unique.');
    const tree = join(stage.home, run.workflowId);
    const folder = join(tree, 'agents/researcher/completion_drive');
    // The record is written beside the question, and its index after the readable files.
    await eventually('question and session in the record', async () => {
      const { open_questions, sessions = [] } = await storedRecord(stage.home, run.workflowId);
      return open_questions.length === 1 && sessions[0]?.unresolved === 1;
    });
    expect(statusIn(tree)).toMatchObject({
      agents: {
        table: { status: 'blocked', completion_drive_notes_count: 2, unresolved_notes: 1 },
      },
      overall_completion_drive_gate: 'blocked',
    });
    expect(readdirSync(folder)).toEqual(['session_current.json']);
    await submit(run, { question_id: 'q1', answer: 'Yes, always.', answered_by: 'maria' });
    const result = await stage.result(run);
    expect(result.status).toBe('completed');
    const calls = callsOf(stage.rehearsal, 'table');
    expect(calls).toHaveLength(5);
    expect(calls.map((call) => faultsOf(call))).toMatchObject([
      [],
      [],
      [
        expect.stringContaining('completion drive review: note_001 is open'),
        expect.stringContaining('note_002 is escalated'),
      ],
      [],
      [],
    ]);
    const record = await storedRecord(stage.home, run.workflowId);
    const [last] = record.sessions ?? [];
    expect(last).toMatchObject({ status: 'ready_for_verification', count: 2, unresolved: 0 });
    const text = await storedText(stage.home, last?.session_ref ?? '');
    const session = CompletionSession.parse(JSON.parse(text));
    expect(session.notes).toMatchObject([
      { note_id: 'note_001', status: 'resolved', resolved_by: 'agent_self' },
      { note_id: 'note_002', resolution: 'Yes, always.', resolved_by: 'user' },
    ]);
    // The task is over: its session has the name of an ended one.
    const [file, ...more] = readdirSync(folder);
    expect(more).toEqual([]);
    expect(file).toMatch(/^session_\d{8}_\d{4}_table\.json$/);
    expect(readFileSync(join(folder, file ?? ''), 'utf8')).toBe(text);
    expect(statusIn(tree)).toMatchObject({
      agents: { table: { status: 'session_complete', unresolved_notes: 0 } },
      overall_completion_drive_gate: 'open',
    });
    await expectPromisesKept(stage, run.workflowId);
  });
});

it('the sessions of a terminated run are archived before the next run begins, and by hand', async () => {
  stage.rehearsal.script([
    plans(1, plan([work('table')])),
    works('table', resolvesItself, 1),
    works('table', { pass: true, delayMs: 600_000 }, 2),
  ]);
  const crashed = await stage.start('plannerRun', { goal, notes: true }, 'crashed');
  await stage.rehearsal.waitForCalls(3);
  const folder = join(stage.home, 'crashed/agents/researcher/completion_drive');
  // The files come before the index, from which the archival reads.
  await eventually('its session', async () => {
    const { sessions = [] } = await storedRecord(stage.home, 'crashed');
    return sessions.length > 0;
  });
  expect(existsSync(join(folder, 'session_current.json'))).toBe(true);
  await crashed.terminate('as if a machine had burnt down');

  stage.rehearsal.script([
    plans(1, plan([work('table')])),
    works('table', { json: done }),
    { match: { schema: 'decision' }, reply: { json: decision() } },
  ]);
  const next = await stage.start('plannerRun', { goal, notes: true }, 'next');
  expect(await stage.result(next)).toMatchObject({ status: 'completed' });
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/^session_\d{8}_\d{4}_table\.json$/)]);
  const log = readFileSync(join(stage.home, 'next/archive/cleanup_log.json'), 'utf8');
  expect(JSON.parse(log)).toMatchObject({
    operations: [
      { operation: 'archive_crashed_run', run_id: 'crashed', sessions: 1 },
      { operation: 'archive' },
    ],
    failures: [],
  });
  await expectPromisesKept(stage, 'next');
  const again = await stage.client.workflow.start('archival', {
    taskQueue: stage.taskQueue,
    workflowId: 'tidy',
    args: [{}],
  });
  expect(await again.result()).toEqual({ archived: [], failures: [] });
});

const longNote = (nth: number) => ({
  action: 'resolve',
  category: 'documentation',
  description: `Long note ${nth}. ${'The columns are named as in orders. '.repeat(10)}`,
  context: 'Writing the table',
  text: 'See orders.sql.',
});

it('an agent pays for the notes of its current session only, however many its ended sessions hold', async () => {
  const past = notes(...Array.from({ length: 15 }, (_, nth) => longNote(nth)));
  const own = notes({ ...longNote(0), description: 'The own note of the last task.' });
  /** Plays a wave of earlier tasks and one of the last task. Returns what the last one's requests contain and cost. */
  const play = async (id: string, early: readonly Reply[]) => {
    stage.rehearsal.reset();
    const earlier = ['first', 'second', 'third'];
    stage.rehearsal.script([
      plans(1, plan(earlier.map((task) => work(task, { criteria: [`${task}-done`, 'goal-1'] })))),
      plans(2, plan([work('last', { criteria: ['goal-1'] })])),
      ...earlier.flatMap((task) => [
        ...early.map((reply) => works(task, reply, 1)),
        works(task, { json: notYet(task) }),
      ]),
      works('last', own, 1),
      works('last', { json: completed('goal-1') }),
      { match: { schema: 'decision', nth: 1 }, reply: { json: decision('goal-1') } },
      { match: { schema: 'decision' }, reply: { json: decision() } },
    ]);
    const run = await stage.start('plannerRun', { goal, notes: true }, id);
    expect(await stage.result(run)).toMatchObject({ status: 'completed' });
    const { waves, sessions = [] } = await storedRecord(stage.home, id);
    const [outcome] = waves[1]?.outcomes ?? [];
    const requests = callsOf(stage.rehearsal, 'last').map(({ body }) => JSON.stringify(body));
    return {
      requests,
      counts: sessions.map(({ count }) => count),
      tokens: outcome && inputTokens(outcome.usage),
    };
  };
  const plain = await play('plain', []);
  const noted = await play('noted', [past]);
  expect(plain.counts).toEqual([0, 0, 0, 1]);
  expect(noted.counts).toEqual([15, 15, 15, 1]);
  expect(noted.requests).toHaveLength(2);
  expect(noted.requests[1]).toContain('The own note of the last task.');
  expect(noted.requests.join('')).not.toContain('Long note');
  expect(noted.tokens).toBe(plain.tokens);
  expect(noted.tokens).toBeGreaterThan(0);
});

it("a team's member keeps notes as any agent does, and an answer confirms the default of its question", async () => {
  const region = question('Which region?', { priority: 'high', default_answer: 'EU' });
  const ends = held({ json: completed(taskCriterion) });
  stage.rehearsal.script([
    ...leads([[gives('researcher')], ends.reply]),
    does({ agent: 'researcher', nth: 1 }, { json: blocked([region], taskCriterion) }),
    does({ agent: 'researcher' }, { json: completed(taskCriterion) }),
  ]);
  const input = teamInput(['researcher'], { notes: true, use_defaults: true });
  const run = await stage.start('team', input);
  await stage.rehearsal.waitForCalls(4);
  // The record is written beside the work.
  const assumed = await eventually('the default in the record', async () => {
    const { answered_questions } = await storedRecord(stage.home, run.workflowId);
    return answered_questions.length > 0 && answered_questions;
  });
  expect(assumed).toMatchObject([{ answer: 'EU', answered_by: 'default' }]);
  expect(await submit(run, { question_id: 'q1', answer: 'EU' })).toMatchObject({
    accepted: expect.stringContaining('is confirmed'),
  });
  ends.release();
  await stage.result(run);
  const record = await storedRecord(stage.home, run.workflowId);
  expect(record.answered_questions).toMatchObject([{ answer: 'EU', answered_by: 'user' }]);
  // It is no instruction that came too late.
  expect(record.rejected_answers).toEqual([]);
  expect(record.sessions).toMatchObject([
    { delegation_id: 'task.d1', agent_id: 'researcher', count: 1, unresolved: 0 },
  ]);
  const folder = join(stage.home, run.workflowId, 'agents/researcher/completion_drive');
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/^session_.*_task_d1\.json$/)]);
});
