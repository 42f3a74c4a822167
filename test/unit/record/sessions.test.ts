import { join } from 'node:path';
import * as z from 'zod';
import { CompletionSession } from '../../../contracts/note.ts';
import type { SessionReport } from '../../../contracts/note.ts';
import type { RecordChange } from '../../../contracts/run-record.ts';
import { judgeNotes, openSession, renderSession } from '../../../core/notes/session.ts';
import { readTree } from '../../support/read-tree.ts';
import { startedAt, useHarness } from './harness.ts';
import { usage } from './samples.ts';

const harness = useHarness();

/** Formats of seed 003, "Archival Agent", as this page of the code has them. */
const CleanupLog = z.strictObject({
  operations: z.array(
    z.strictObject({
      operation: z.literal('archive'),
      timestamp: z.int(),
      from: z.string().endsWith('/completion_drive/session_current.json'),
      to: z.string(),
    }),
  ),
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
  expect(log.operations.map(({ to }) => to)).toEqual([ended, last]);
  const index = ArchiveIndex.parse(JSON.parse(archive['archive/archive_index.json'] ?? ''));
  expect(index.sessions).toMatchObject([
    { agent: 'writer', task_id: 'create_table_1727539200', file: ended, unresolved_notes: 1 },
    { agent: 'writer', task_id: 'fill_table_1727539300', file: last, archived_at: startedAt + 60 },
  ]);
});
