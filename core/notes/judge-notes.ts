/** Applies calls of the tool `completion_note` to a session. */
import type { CompletionNote } from '../../contracts/note.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { NoteCall, NoteEntry } from '../../contracts/state-call.ts';
import { countOf } from '../text/format.ts';
import { countUnresolved } from './session.ts';
import type { SessionState } from './session.ts';
import { stepNotes } from './step-notes.ts';
import type { NoteEvent, NotesStep } from './step-notes.ts';

export interface JudgedNotes {
  readonly session: SessionState;
  /** Text for the model: one line per entry. */
  readonly text: string;
  /** Faults of the refused entries; the others count. */
  readonly faults: readonly OutputFault[];
}

/** Applies the entries of a call, one after the other. */
export function judgeNotes(session: SessionState, { entries }: NoteCall, at: number): JudgedNotes {
  let { notes } = session;
  const lines: string[] = [];
  const faults: OutputFault[] = [];
  for (const [index, entry] of entries.entries()) {
    const { notes: next, note, fault } = applyEntry(notes, entry, at);
    notes = next;
    if (fault !== null) {
      const placed = { ...fault, path: `notes[${index}].${fault.path}` };
      faults.push(placed);
      lines.push(`${placed.path}: ${fault.reason}. ${fault.hint}`);
    } else if (note !== null) lines.push(describeChange(entry, note));
  }
  const left = countUnresolved(notes);
  const rest = `${countOf(notes.length, 'note')}, ${left} of them open or escalated.`;
  return { session: { ...session, notes }, text: [...lines, rest].join('\n'), faults };
}

function describeChange(
  { action }: NoteEntry,
  { note_id, status, category }: CompletionNote,
): string {
  const isTurned = action === 'resolve' && status === 'escalated';
  const why = isTurned
    ? `: ${category} is not yours to decide. Finish what does not depend on it, then give status "blocked"; the answer comes back to you`
    : '';
  return `${note_id} is ${status}${why}.`;
}

/** Makes the note first if the entry names none. All of an entry counts, or nothing. */
function applyEntry(notes: readonly CompletionNote[], entry: NoteEntry, at: number): NotesStep {
  const { action, category, description, context } = entry;
  if (entry.note_id !== null) {
    if (action !== 'create') return stepNotes(notes, eventOf(entry, entry.note_id, at));
    const fault = {
      path: 'note_id',
      reason: 'the engine gives a new note its id',
      hint: 'Try: leave it out',
    };
    return { notes, note: null, fault };
  }
  if (category === null) {
    const fault = {
      path: 'category',
      reason: 'a new note needs a category',
      hint: 'Try: the one that fits best',
    };
    return { notes, note: null, fault };
  }
  const made = stepNotes(notes, { type: 'create', description, context, category, at });
  if (made.note === null || action === 'create') return made;
  const changed = stepNotes(made.notes, eventOf(entry, made.note.note_id, at));
  return changed.fault === null ? changed : { ...changed, notes };
}

function eventOf({ action, text }: NoteEntry, note_id: string, at: number): NoteEvent {
  switch (action) {
    case 'escalate':
      return { type: 'escalate', note_id, reason: text };
    case 'reopen':
      return { type: 'reopen', note_id };
    case 'create':
    case 'resolve':
      return { type: 'resolve', note_id, resolution: text, at };
  }
}
