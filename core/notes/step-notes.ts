/**
 * Keeps the completion-drive notes of one session (seed 003, "Note Lifecycle").
 *
 * Invariants:
 *   CN1. Notes are only added; their ids count from note_001, and a session has at most `notesMax`.
 *   CN2. An agent never resolves a note of a category that it must escalate: the note is escalated, with the resolution that
 *        was tried in its reason.
 *   CN3. An escalated note is resolved by an answer only.
 *   CN4. The fields of a note fit its status: a resolved one has resolution, author and time, an escalated one its reason.
 *   CN5. Every state takes every event; one that does not fit changes nothing and has a fault with a hint.
 */
import type { CompletionNote, NoteCategory } from '../../contracts/note.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import { engineLimits } from '../limits.ts';
import { cutText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';

export type NoteEvent =
  | {
      readonly type: 'create';
      readonly description: string;
      readonly context: string;
      readonly category: NoteCategory;
      /** Unix epoch seconds, as in all events. */
      readonly at: number;
    }
  /** The agent itself resolves it. */
  | {
      readonly type: 'resolve';
      readonly note_id: string;
      readonly resolution: string;
      readonly at: number;
    }
  | { readonly type: 'escalate'; readonly note_id: string; readonly reason: string }
  /** The agent doubts a resolution. */
  | { readonly type: 'reopen'; readonly note_id: string }
  /** An escalated note is answered. */
  | {
      readonly type: 'settle';
      readonly note_id: string;
      readonly resolution: string;
      readonly by: 'user' | 'workflow_executor';
      readonly at: number;
    };

export interface NotesStep {
  readonly notes: readonly CompletionNote[];
  /** The note as it is now; null when the event was refused. */
  readonly note: CompletionNote | null;
  /** Null unless the event was refused. */
  readonly fault: OutputFault | null;
}

/** Typed by category, so that a new one does not compile before it is decided. */
const mustEscalate: Readonly<Record<NoteCategory, boolean>> = {
  technology_choice: true,
  architecture: true,
  security: true,
  requirements: true,
  conflicting_guidance: true,
  code_consistency: false,
  obvious_bug: false,
  implementation_detail: false,
  documentation: false,
  unclassified: false,
};

/** Returns true for a note that its author may not resolve. */
export function isForOthers({ category }: Pick<CompletionNote, 'category'>): boolean {
  return mustEscalate[category];
}

export function stepNotes(notes: readonly CompletionNote[], event: NoteEvent): NotesStep {
  if (event.type === 'create') return create(notes, event);
  const note = notes.find(({ note_id }) => note_id === event.note_id);
  if (note === undefined) return refuse(notes, unknownNote(notes, event.note_id));
  const changed = change(note, event);
  if ('reason' in changed) return refuse(notes, changed);
  return { notes: notes.map((one) => (one === note ? changed : one)), note: changed, fault: null };
}

/** Returns the id of a session's nth note, from 1. */
export function noteIdOf(nth: number): string {
  return `note_${String(nth).padStart(3, '0')}`;
}

function create(
  notes: readonly CompletionNote[],
  { description, context, category, at }: Extract<NoteEvent, { type: 'create' }>,
): NotesStep {
  if (notes.length >= engineLimits.notesMax) return refuse(notes, tooMany);
  if (description.trim() === '') return refuse(notes, noDescription);
  const note: CompletionNote = {
    note_id: noteIdOf(notes.length + 1),
    timestamp: at,
    description: cutText(description.trim(), engineLimits.noteTextCharsMax),
    context: cutText(context.trim(), engineLimits.noteTextCharsMax) || 'not said',
    category,
    ...unresolved('open'),
  };
  return { notes: [...notes, note], note, fault: null };
}

type OwnFields = Pick<
  CompletionNote,
  'status' | 'resolution' | 'resolved_by' | 'resolution_timestamp' | 'escalation_reason'
>;

function unresolved(status: 'open' | 'escalated', reason: string | null = null): OwnFields {
  return {
    status,
    resolution: null,
    resolved_by: null,
    resolution_timestamp: null,
    escalation_reason: reason === null ? null : cutText(reason, engineLimits.noteTextCharsMax),
  };
}

function change(
  note: CompletionNote,
  event: Exclude<NoteEvent, { type: 'create' }>,
): CompletionNote | OutputFault {
  switch (event.type) {
    case 'resolve':
      return resolve(note, event);
    case 'escalate': {
      const reason = event.reason.trim();
      if (reason === '') return lacks(note, 'why it blocks');
      if (note.status === 'resolved') return misfit(note, 'reopen it first');
      return { ...note, ...unresolved('escalated', reason) };
    }
    case 'reopen':
      return note.status === 'resolved'
        ? { ...note, ...unresolved('open') }
        : misfit(note, 'resolve or escalate it');
    case 'settle':
      if (note.status !== 'escalated') return misfit(note, 'escalate it first');
      return resolvedBy(note, event.by, event.resolution, event.at);
  }
}

function resolve(
  note: CompletionNote,
  { resolution, at }: Extract<NoteEvent, { type: 'resolve' }>,
): CompletionNote | OutputFault {
  const text = resolution.trim();
  if (text === '') return lacks(note, 'how it was resolved, with the evidence');
  if (note.status === 'resolved') return misfit(note, 'reopen it if the resolution is wrong');
  if (note.status === 'escalated') {
    return misfit(
      note,
      'finish what does not depend on it, then give status "blocked", or "failed" if its question was refused',
    );
  }
  if (!isForOthers(note)) return resolvedBy(note, 'agent_self', text, at);
  const reason = `The author may not decide on ${note.category}. It would have resolved it so: ${text}`;
  return { ...note, ...unresolved('escalated', reason) };
}

function resolvedBy(
  note: CompletionNote,
  resolved_by: NonNullable<CompletionNote['resolved_by']>,
  resolution: string,
  at: number,
): CompletionNote {
  return {
    ...note,
    status: 'resolved',
    resolution: cutText(resolution.trim(), engineLimits.noteTextCharsMax) || 'no words',
    resolved_by,
    resolution_timestamp: at,
  };
}

function refuse(notes: readonly CompletionNote[], fault: OutputFault): NotesStep {
  return { notes, note: null, fault };
}

function unknownNote(notes: readonly CompletionNote[], id: string): OutputFault {
  return {
    path: 'note_id',
    reason: `there is no note ${JSON.stringify(cutText(id, 30))}`,
    hint:
      notes.length === 0
        ? 'Try: leave note_id out, and describe a new note'
        : `Try: one of ${listNames(notes.map(({ note_id }) => note_id))}`,
  };
}

function lacks({ note_id }: CompletionNote, what: string): OutputFault {
  return { path: 'text', reason: `${note_id} needs a text`, hint: `Try: ${what}` };
}

function misfit({ note_id, status }: CompletionNote, cure: string): OutputFault {
  return { path: 'note_id', reason: `${note_id} is ${status}`, hint: `Try: ${cure}` };
}

const tooMany: OutputFault = {
  path: 'notes',
  reason: `a session has at most ${engineLimits.notesMax} notes`,
  hint: 'Try: resolve or escalate those there are, and give status "failed" if that does not help',
};

const noDescription: OutputFault = {
  path: 'description',
  reason: 'a new note needs a description',
  hint: 'Try: what you assume or are unsure of, in a sentence',
};
