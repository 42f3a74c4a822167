import { join } from 'node:path';
import * as z from 'zod';
import { CompletionSession } from '../../../contracts/note.ts';
import type { SessionReport, ArchivalResult } from '../../../contracts/note.ts';
import type { RecordChange } from '../../../contracts/run-record.ts';
import { openSession, renderSession } from '../../../core/notes/session.ts';
import { archiveSessions } from '../../../activities/run-record/archive-sessions.ts';
import type { RunFate } from '../../../activities/run-record/archive-sessions.ts';
import { readTree } from '../../support/read-tree.ts';
import { startedAt, useHarness } from './harness.ts';
import { usage } from './samples.ts';
import { judgeNotes } from '../../../core/notes/judge-notes.ts';

const harness = useHarness();

/** Formats of seed 003, "Archival Agent", as this page of the code has them. */
const CleanupLog = z.strictObject({
  operations: z.array(
    z.union([
      z.strictObject({
        operation: z.literal('archive'),
        timestamp: z.int(),
        from: z.string().endsWith('/completion_drive/session_current.json'),
        to: z.string(),
      }),
      z.strictObject({
        operation: z.literal('archive_crashed_run'),
        timestamp: z.int(),
        run_id: z.string(),
        sessions: z.int(),
      }),
    ]),
  ),
  failures: z.array(z.string()),
});
const ArchiveIndex = z.strictObject({
  run_id: z.string(),
  sessions: z.array(
    z.strictObject({
      agent: z.string(),
      task_id: z.string(),
      file: z.string(),
      status: z.string(),
      notes: z.int(),
      unresolved_notes: z.int(),
      archived_at: z.int(),
    }),
  ),
});

async function report(
  delegation_id: string,
  over: Partial<SessionReport> = {},
): Promise<RecordChange> {
  const entry = {
    action: 'create',
    note_id: null,
    category: 'documentation',
    description: `Note of ${delegation_id}.`,
    context: 'Writing',
    text: '',
  } as const;
  const begun = openSession(delegation_id, startedAt);
  const { session } = judgeNotes(begun, { tool: 'completion_note', entries: [entry] }, startedAt);
  const session_ref = await harness.deps.store.put(renderSession(session));
  const agent_id = 'writer';
  const base = { delegation_id, agent_id, status: 'working' as const, at: startedAt };
  return { type: 'session', session: { ...base, count: 1, unresolved: 1, session_ref, ...over } };
}

const filesBelow = async (run: string, folder: string): Promise<Record<string, string>> => {
  const tree = await readTree(join(harness.home, run));
  return Object.fromEntries(Object.entries(tree).filter(([path]) => path.startsWith(folder)));
};

it('the newest session of an agent is its current one; at the end all have the names of ended ones', async () => {
  const run = await harness.begin('my-run');
  await run.apply(await report('create_table_1727539200'));
  const folder = 'agents/writer/completion_drive';
  const first = await filesBelow('my-run', folder);
  expect(Object.keys(first)).toEqual([`${folder}/session_current.json`]);
  const read = CompletionSession.parse(JSON.parse(Object.values(first)[0] ?? ''));
  expect(read.task_id).toBe('create_table_1727539200');

  await run.apply(await report('fill_table_1727539300', { at: startedAt + 60 }));
  const ended = `${folder}/session_20251009_0853_create_table.json`;
  const second = await filesBelow('my-run', folder);
  expect(Object.keys(second).toSorted()).toEqual([ended, `${folder}/session_current.json`]);
  expect(await filesBelow('my-run', 'archive')).toEqual({});

  await run.apply({ type: 'ended', status: 'stopped', usage: usage(0) });
  const last = `${folder}/session_20251009_0854_fill_table.json`;
  expect(Object.keys(await filesBelow('my-run', folder)).toSorted()).toEqual([ended, last]);
  const archive = await filesBelow('my-run', 'archive');
  const log = CleanupLog.parse(JSON.parse(archive['archive/cleanup_log.json'] ?? ''));
  expect(log.operations).toMatchObject([{ to: ended }, { to: last }]);
  const index = ArchiveIndex.parse(JSON.parse(archive['archive/archive_index.json'] ?? ''));
  expect(index.sessions).toMatchObject([
    { agent: 'writer', task_id: 'create_table_1727539200', file: ended, unresolved_notes: 1 },
    { agent: 'writer', task_id: 'fill_table_1727539300', file: last, archived_at: startedAt + 60 },
  ]);
});

it('sessions of members of one team have files of their own', async () => {
  const run = await harness.begin('team-run');
  const team = 'create_the_table_of_all_rates_of_the_year_1727539200';
  for (const member of ['first', 'second', 'third']) {
    // One change after the other.
    // oxlint-disable-next-line no-await-in-loop
    await run.apply(await report(`${team}.${member}`));
  }
  await run.apply(await report('short_1727539200.first'));
  await run.apply({ type: 'ended', status: 'stopped', usage: usage(0) });
  const folder = 'agents/writer/completion_drive';
  const long = `${folder}/session_20251009_0853_create_the_table_of_all_rates_of_the_yea`;
  const files = await filesBelow('team-run', folder);
  expect(Object.keys(files).toSorted()).toEqual([
    `${long}.json`,
    `${long}_2.json`,
    `${long}_3.json`,
    `${folder}/session_20251009_0853_short_first.json`,
  ]);
  expect(new Set(Object.values(files)).size).toBe(4);
});

describe('an archival', () => {
  const now = startedAt + 600;
  /** Archives before `next` begins, and returns the result. */
  const archive = (fates: Readonly<Record<string, RunFate>>, input: unknown = { run_id: 'next' }) =>
    archiveSessions(
      {
        ...harness.deps,
        fateOf: async (runId) => {
          const fate = fates[runId];
          if (fate === undefined) throw new Error('the server is away');
          return fate;
        },
      },
      { input, now },
      async () => {},
    );
  const folder = 'agents/writer/completion_drive';

  it('lists the faults of its input, and shows a good one', async () => {
    const refused = await archive({}, { run_id: 7, all: true });
    expect(refused).toMatchObject({ type: 'refused' });
    const { reason } = refused.type === 'refused' ? refused : { reason: '' };
    expect(reason.split('\n')).toEqual([
      'The input of archival has 2 faults:',
      expect.stringMatching(/^- run_id: /),
      expect.stringMatching(/^- input: .*"all"/),
      'A good input: {}',
    ]);
  });

  it('AR1 and AR4: gives the sessions of a run that ended without a word the names of ended ones, once', async () => {
    const crashed = await harness.begin('crashed');
    await crashed.apply(await report('create_table_1727539200'));
    const elsewhere = await harness.begin('elsewhere');
    await elsewhere.apply(await report('fill_table_1727539300'));
    const fates = { crashed: 'ended', elsewhere: 'unknown' } as const;
    expect(await archive({ ...fates, crashed: 'open' })).toMatchObject({ archived: [] });
    const result = { type: 'archived', archived: [{ run_id: 'crashed', sessions: 1 }] };
    expect(await archive(fates)).toEqual({ ...result, failures: [] });
    expect(Object.keys(await filesBelow('crashed', folder))).toEqual([
      `${folder}/session_20251009_0853_create_table.json`,
    ]);
    const { 'archive/archive_index.json': index = '' } = await filesBelow('crashed', 'archive');
    expect(ArchiveIndex.parse(JSON.parse(index)).sessions).toHaveLength(1);
    expect(Object.keys(await filesBelow('elsewhere', folder))).toEqual([
      `${folder}/session_current.json`,
    ]);
    expect(await archive(fates)).toMatchObject({ archived: [] });
  });

  it('AR2: leaves runs that ended by themselves, and the run that begins', async () => {
    const over = await harness.begin('over');
    await over.apply(await report('create_table_1727539200'));
    await over.apply({ type: 'ended', status: 'stopped', usage: usage(0) });
    const next = await harness.begin('next');
    await next.apply(await report('fill_table_1727539300'));
    await harness.begin('silent');
    expect(await archive({ over: 'ended', next: 'ended', silent: 'ended' })).toEqual({
      type: 'archived',
      archived: [],
      failures: [],
    });
  });

  it('AR3: tells what it could not archive, in the log and the report of the run that begins', async () => {
    const lost = await harness.begin('lost');
    await lost.apply(await report('create_table_1727539200'));
    const crashed = await harness.begin('crashed');
    await crashed.apply(await report('fill_table_1727539300'));
    const result: ArchivalResult = {
      archived: [{ run_id: 'crashed', sessions: 1 }],
      failures: ['lost: the server is away'],
    };
    expect(await archive({ crashed: 'ended' })).toEqual({ type: 'archived', ...result });
    const next = await harness.begin('next');
    await next.apply({ type: 'archival', result });
    await next.apply({ type: 'ended', status: 'stopped', usage: usage(0) });
    const tree = await readTree(join(harness.home, 'next'));
    expect(CleanupLog.parse(JSON.parse(tree['archive/cleanup_log.json'] ?? ''))).toEqual({
      operations: [
        { operation: 'archive_crashed_run', timestamp: startedAt, run_id: 'crashed', sessions: 1 },
      ],
      failures: ['lost: the server is away'],
    });
    expect(tree['report.md']).toContain('lost: the server is away');
  });
});
