import * as fc from 'fast-check';
import { CompletionNote, NoteCategory, escalatedCategories } from '../../../../contracts/note.ts';
import { engineLimits } from '../../../../core/limits.ts';
import { isForOthers, stepNotes } from '../../../../core/notes/step-notes.ts';
import type { NoteEvent } from '../../../../core/notes/step-notes.ts';
import { property } from '../builders.ts';

const create = (category: NoteCategory = 'documentation') => ({
  type: 'create' as const,
  description: 'The column is named as in the other tables.',
  context: 'writing the migration',
  category,
  at: 100,
});

const run = (...events: readonly NoteEvent[]) =>
  events.reduce((step, event) => stepNotes(step.notes, event), stepNotes([], create()));

describe('stepNotes', () => {
  it('CN1: ids count from note_001, and a session has a limit', () => {
    const two = run(create());
    expect(two.notes.map(({ note_id }) => note_id)).toEqual(['note_001', 'note_002']);
    const full = Array.from({ length: engineLimits.notesMax }).reduce<ReturnType<typeof stepNotes>>(
      (step) => stepNotes(step.notes, create()),
      { notes: [], note: null, fault: null },
    );
    expect(full.notes).toHaveLength(engineLimits.notesMax);
    const refused = stepNotes(full.notes, create());
    expect(refused.notes).toBe(full.notes);
    expect(refused.fault?.reason).toContain(String(engineLimits.notesMax));
  });

  it('an agent resolves a note of its own category', () => {
    const resolve: NoteEvent = {
      type: 'resolve',
      note_id: 'note_001',
      resolution: 'users.sql line 3 has the same name.',
      at: 160,
    };
    expect(run(resolve).note).toEqual({
      note_id: 'note_001',
      timestamp: 100,
      description: 'The column is named as in the other tables.',
      context: 'writing the migration',
      category: 'documentation',
      status: 'resolved',
      resolution: 'users.sql line 3 has the same name.',
      resolved_by: 'agent_self',
      resolution_timestamp: 160,
      escalation_reason: null,
    });
    const reopened = run(resolve, { type: 'reopen', note_id: 'note_001' });
    expect(reopened.note).toMatchObject({ status: 'open', resolution: null, resolved_by: null });
  });

  it.each(escalatedCategories)(
    'CN2: code escalates a note on %s that its author resolves',
    (kind) => {
      const open = stepNotes([], create(kind));
      const step = stepNotes(open.notes, {
        type: 'resolve',
        note_id: 'note_001',
        resolution: 'Took bcrypt.',
        at: 160,
      });
      expect(step.fault).toBeNull();
      expect(step.note).toMatchObject({ status: 'escalated', resolution: null, resolved_by: null });
      expect(step.note?.escalation_reason).toContain('Took bcrypt.');
      expect(step.note?.escalation_reason).toContain(kind);
    },
  );

  it('CN3: only an answer resolves an escalated note', () => {
    const escalated: NoteEvent = { type: 'escalate', note_id: 'note_001', reason: 'It blocks.' };
    const own = run(escalated, {
      type: 'resolve',
      note_id: 'note_001',
      resolution: 'Done.',
      at: 1,
    });
    expect(own.fault).toMatchObject({ reason: 'note_001 is escalated' });
    const settled = run(escalated, {
      type: 'settle',
      note_id: 'note_001',
      resolution: 'Yes.',
      by: 'user',
      at: 200,
    });
    expect(settled.note).toMatchObject({
      status: 'resolved',
      resolution: 'Yes.',
      resolved_by: 'user',
      resolution_timestamp: 200,
      escalation_reason: 'It blocks.',
    });
  });

  it('CN5: an event that does not fit has a fault with a hint', () => {
    const faults = [
      run({ type: 'resolve', note_id: 'note_009', resolution: 'x', at: 1 }),
      run({ type: 'resolve', note_id: 'note_001', resolution: '  ', at: 1 }),
      run({ type: 'escalate', note_id: 'note_001', reason: '' }),
      run({ type: 'reopen', note_id: 'note_001' }),
      run({ type: 'settle', note_id: 'note_001', resolution: 'x', by: 'user', at: 1 }),
      run({ ...create(), description: ' ' }),
    ].map(({ fault }) => fault?.hint.slice(0, 5));
    expect(faults).toEqual(Array(6).fill('Try: '));
  });

  it('CN4: the fields fit the status after any events', () => {
    const noteId = fc.constantFrom('note_001', 'note_002', 'note_003', 'note_999');
    const words = fc.string({ maxLength: 30 });
    const at = fc.nat();
    const event: fc.Arbitrary<NoteEvent> = fc.oneof(
      fc.record({
        type: fc.constant('create' as const),
        description: words,
        context: words,
        category: fc.constantFrom(...NoteCategory.options),
        at,
      }),
      fc.record({ type: fc.constant('resolve' as const), note_id: noteId, resolution: words, at }),
      fc.record({ type: fc.constant('escalate' as const), note_id: noteId, reason: words }),
      fc.record({ type: fc.constant('reopen' as const), note_id: noteId }),
      fc.record({
        type: fc.constant('settle' as const),
        note_id: noteId,
        resolution: words,
        by: fc.constantFrom('user' as const, 'workflow_executor' as const),
        at,
      }),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        let notes: readonly CompletionNote[] = [];
        for (const one of events) {
          const before = notes;
          const step = stepNotes(notes, one);
          notes = step.notes;
          expect(step.fault === null).toBe(step.note !== null);
          expect(step.fault === null || notes === before).toBe(true);
        }
        for (const note of notes) {
          expect(CompletionNote.safeParse(note).error).toBeUndefined();
          expect(note.resolved_by !== null).toBe(note.status === 'resolved');
          expect(note.resolution_timestamp !== null).toBe(note.status === 'resolved');
          expect(note.status !== 'escalated' || note.escalation_reason !== null).toBe(true);
          expect(isForOthers(note) && note.resolved_by === 'agent_self').toBe(false);
        }
      }),
      property,
    );
  });
});
