import { z } from 'zod';
import type { Ref } from './ref.ts';

/** Categories of notes that their author may not resolve: they are escalated (seed 003, "Escalation Rules for Doer Agents"). */
export const escalatedCategories = [
  'technology_choice',
  'architecture',
  'security',
  'requirements',
  'conflicting_guidance',
] as const;

/** Categories of notes that their author may resolve itself. */
export const ownCategories = [
  'code_consistency',
  'obvious_bug',
  'implementation_detail',
  'documentation',
] as const;

/** `unclassified`: the note follows from a field of an output, which names no category. */
export const NoteCategory = z.enum([...escalatedCategories, ...ownCategories, 'unclassified']);
export type NoteCategory = z.infer<typeof NoteCategory>;

const NoteStatus = z.enum(['open', 'resolved', 'escalated']);
type NoteStatus = z.infer<typeof NoteStatus>;

const text = z.string().min(1).max(2_000);

/** Completion-drive note: an assumption or uncertainty that an agent met while it worked (seed 003, "Note-level fields"). */
export const CompletionNote = z.strictObject({
  note_id: z.string().regex(/^note_[0-9]{3}$/, 'expected note_001, note_002, …'),
  /** Unix epoch seconds. */
  timestamp: z.int(),
  description: text.describe('The assumption or uncertainty.'),
  context: text.describe('The work in which it arose.'),
  /** Beyond the seed: by it, code knows who may resolve the note. */
  category: NoteCategory,
  status: NoteStatus,
  /** Null unless `status` is resolved, like the next two. */
  resolution: z.string().max(2_000).nullable(),
  resolved_by: z.enum(['agent_self', 'workflow_executor', 'user']).nullable(),
  resolution_timestamp: z.int().nullable(),
  /** Null unless it was escalated. */
  escalation_reason: z.string().max(2_000).nullable(),
});
export type CompletionNote = z.infer<typeof CompletionNote>;

/** File `session_current.json` of an agent (seed 003, "Completion Drive File Format"). */
export const CompletionSession = z.strictObject({
  task_id: z.string().min(1),
  /** Unix epoch seconds at which the agent began to work. */
  session_start: z.int(),
  notes: z.array(CompletionNote).readonly(),
});
export type CompletionSession = z.infer<typeof CompletionSession>;

/** Status of an agent (seed 003, "Agent Status Values"), and its `failed` for one that used up its attempts. */
export type AgentStatusValue =
  | 'pending'
  | 'working'
  | 'completion_drive_review'
  | 'ready_for_verification'
  | 'verified'
  | 'blocked'
  | 'failed'
  | 'session_complete';

/** State of a delegation's session: reported whenever its status or its notes change. */
export interface SessionReport extends NotesOutline {
  readonly delegation_id: string;
  readonly agent_id: string;
  readonly status: AgentStatusValue;
  /** Unix epoch seconds. */
  readonly at: number;
  /** note_ids whose questions were refused. Absent while there are none. */
  readonly refused?: readonly string[];
}

/** Notes of a delegation, in its outcome. */
export interface NotesOutline {
  readonly count: number;
  /** Notes that are open or escalated. */
  readonly unresolved: number;
  /** The CompletionSession as JSON. */
  readonly session_ref: Ref;
}

/** Typed input of an archival, all optional: `{"run_id":"my-run"}`. */
export const ArchivalInput = z.strictObject({
  /** A run that begins: its own sessions are current. If undefined, no run is left out. */
  run_id: z.string().min(1).max(200).optional(),
});
export type ArchivalInput = z.infer<typeof ArchivalInput>;

/** A run that ended without a word, such as one that was terminated, and whose sessions are archived now. */
export interface ArchivedRun {
  readonly run_id: string;
  /** Number of its `session_current.json` files that got the names of ended ones. */
  readonly sessions: number;
}

export interface ArchivalResult {
  readonly archived: readonly ArchivedRun[];
  /** Each run that could not be archived, with the reason; at most `archiveFailuresMax`. Nothing of it is lost. */
  readonly failures: readonly string[];
}

export interface ArchiveSessionsInput {
  /** Unchecked; validated in the activity. */
  readonly input: unknown;
  /** Unix epoch seconds. */
  readonly now: number;
}

export type ArchiveSessionsResult =
  | ({ readonly type: 'archived' } & ArchivalResult)
  | { readonly type: 'refused'; readonly reason: string };

/** Most failures that an archival lists. */
export const archiveFailuresMax = 10;
