import { openSession, renderSession } from '../../../core/notes/session.ts';
import type { NoteEntry } from '../../../contracts/state-call.ts';
import { blockOf, createRun, jsonOf, render } from './prompt-bench.ts';
import { plan, recordOf } from './bench.ts';
import { recallSession } from '../../../activities/design/create-design-activities.ts';
import { judgeNotes } from '../../../core/notes/judge-notes.ts';

const resolved = (description: string): NoteEntry => ({
  action: 'resolve',
  note_id: null,
  category: 'documentation',
  description,
  context: 'Writing the report',
  text: 'Seen in the guide.',
});

const sessionWith = (task: string, ...descriptions: readonly string[]): string => {
  const call = { tool: 'completion_note' as const, entries: descriptions.map(resolved) };
  return renderSession(judgeNotes(openSession(task, 100), call, 200).session);
};

it('an agent reads the notes of its current session and of no other', async () => {
  const { bench } = await createRun();
  const plan_ref = await bench.store.put(JSON.stringify(plan));
  const archived = await Promise.all(
    Array.from({ length: 20 }, (_, nth) =>
      bench.store.put(sessionWith(`old-${nth}`, ...Array<string>(15).fill(`Old note ${nth}.`))),
    ),
  );
  const current = await bench.store.put(sessionWith('write-report', 'Dates are ISO 8601.'));
  const { record_ref } = bench;
  const prompt = {
    kind: 'delegation',
    record_ref,
    plan_ref,
    delegation_id: 'write-report',
    upstream: [],
  } as const;
  const without = await render(bench, [{ type: 'prompt', prompt }]);
  const text = await render(bench, [
    { type: 'prompt', prompt: { ...prompt, session_ref: current } },
  ]);
  expect(jsonOf(text, 'completion_drive_notes')).toMatchObject([
    { note_id: 'note_001', description: 'Dates are ISO 8601.', status: 'resolved' },
  ]);
  expect(text).not.toContain('Old note');
  // The block itself, and the marks around what an agent wrote.
  const block = blockOf(text, 'completion_drive_notes').length;
  expect(text.length - without.length).toBeLessThan(block + 400);
  const all = await Promise.all(archived.map((ref) => bench.store.getText(ref)));
  expect(text.length).toBeLessThan(all.join('').length / 10);
});

it('NS5: the record tells an agent that begins once more which of its questions were refused', async () => {
  const { bench } = await createRun();
  const session_ref = await bench.store.put(sessionWith('write-report', 'Dates are ISO 8601.'));
  const refused = ['note_001'];
  const reported = { delegation_id: 'write-report', session_ref, refused };
  const record = { ...recordOf(bench.registry_ref), sessions: [reported] };
  const record_ref = await bench.store.put(JSON.stringify(record));
  expect(await recallSession(bench.store, { session_ref, record_ref })).toMatchObject({ refused });
  const other = { session_ref, record_ref: bench.record_ref };
  expect(await recallSession(bench.store, other)).not.toHaveProperty('refused');
});
