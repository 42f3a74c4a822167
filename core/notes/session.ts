/**
 * Keeps the session of an agent: its notes and its status (seed 003, "Session Management").
 *
 * Invariants:
 *   NS1. A completed output is refused while a note is open or escalated; the fault names each, and what to try.
 *   NS2. The first such refusal is the completion drive review.
 *   NS3. Each escalated note is one question, and each blocking question is one escalated note; its answer resolves it.
 *   NS4. Assumptions of an output are notes too, resolved by their author.
 *   NS5. A refused question decides nothing: its note stays escalated and is not asked again, so the output can only end as
 *        failed. What becomes of the task is up to the planner, or to a change of the plan.
 */
import type { AgentOutputOutline } from '../../contracts/agent-output.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { AgentStatusValue, CompletionNote, CompletionSession } from '../../contracts/note.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import { engineLimits } from '../limits.ts';
import { cutText, normaliseText } from '../text/cut-text.ts';
import { listNames } from '../text/list-names.ts';
import { stepAgentStatus } from './agent-status.ts';
import type { AgentEvent } from './agent-status.ts';
import { isForOthers, stepNotes } from './step-notes.ts';
import { isPerson } from '../questions/answer-kinds.ts';

/** The session as its workflow keeps it, also across continue-as-new. */
export interface SessionState extends CompletionSession {
  readonly status: AgentStatusValue;
  /** note_ids whose questions were refused. Absent while there are none. */
  readonly refused?: readonly string[];
}

/** @param at Unix epoch seconds. */
export function openSession(task_id: string, at: number): SessionState {
  return { task_id, session_start: at, notes: [], status: 'working' };
}

/** Applies an event to the status; one that does not fit changes nothing. */
export function moveSession(session: SessionState, event: AgentEvent): SessionState {
  const { status } = stepAgentStatus(session.status, event);
  return status === session.status ? session : { ...session, status };
}

/** Returns the content of `session_current.json`. */
export function renderSession({ task_id, session_start, notes }: CompletionSession): string {
  return `${JSON.stringify({ task_id, session_start, notes }, null, 2)}\n`;
}

export function countUnresolved(notes: readonly Pick<CompletionNote, 'status'>[]): number {
  return notes.filter(({ status }) => status !== 'resolved').length;
}

/** Checks an output against the notes. @returns none for an output that has failed. */
export function checkNotes(
  session: SessionState,
  output: Pick<AgentOutputOutline, 'status' | 'blocking_questions'>,
): OutputFault[] {
  const { notes, status, refused = [] } = session;
  if (output.status === 'failed') return [];
  if (output.status === 'blocked') return checkBlocked(session, output.blocking_questions);
  const review = status === 'completion_drive_review' ? '' : 'completion drive review: ';
  return notes.flatMap((note) => {
    const { note_id, description, status: state } = note;
    if (state === 'resolved') return [];
    const cure = refused.includes(note_id) ? endAsFailed : cureOf(state, note);
    const reason = `${review}${note_id} is ${state}: ${JSON.stringify(cutText(description, 200))}`;
    return [{ path: 'status', reason, hint: `Try: ${cure}` }];
  });
}

/** Faults an agent that waits for nothing but answers that will not come. */
function checkBlocked(session: SessionState, asked: readonly AskedQuestion[]): OutputFault[] {
  const { refused = [] } = session;
  if (refused.length === 0 || askNotes(session, asked, 0).questions.length > 0) return [];
  const reason = `nobody decides on ${listNames(refused)}: that question was refused`;
  return [{ path: 'status', reason, hint: `Try: ${endAsFailed}` }];
}

const endAsFailed =
  'status "failed", with what depends on it in criteria_unmet; its question was refused and is not put again';

function cureOf(
  state: 'open' | 'escalated',
  { category }: Pick<CompletionNote, 'category'>,
): string {
  if (state === 'escalated') {
    return 'status "blocked"; the engine asks the question of the note, and the answer resolves it';
  }
  return isForOthers({ category })
    ? `completion_note with "escalate" (${category} is not yours to decide), then status "blocked"`
    : 'completion_note with "resolve" and the evidence, or with "escalate" if in doubt';
}

export interface NoteQuestions {
  readonly session: SessionState;
  /** At most `escalationQuestionsMax`; the notes that have no room are asked the next time. */
  readonly questions: readonly AskedQuestion[];
  /** The notes of the questions, in their order. The last questions have none when there was no room for a note. */
  readonly note_ids: readonly string[];
}

/**
 * Turns the questions of a blocked output into escalated notes, and all escalated notes into questions, except those that
 * were refused.
 */
export function askNotes(
  session: SessionState,
  asked: readonly AskedQuestion[],
  at: number,
): NoteQuestions {
  let { notes } = session;
  const linked = new Map<string, AskedQuestion>();
  const rest: AskedQuestion[] = [];
  for (const question of asked) {
    const known = notes.find((note) => note.status !== 'resolved' && isAbout(note, question.text));
    const made = known ?? noteOf(notes, question, at);
    if (made === null) {
      rest.push(question);
      continue;
    }
    if (known === undefined) notes = [...notes, made];
    if (made.status === 'open') notes = escalate(notes, made.note_id, question);
    linked.set(made.note_id, question);
  }
  const { refused = [] } = session;
  const escalated = notes.filter(
    ({ note_id, status }) => status === 'escalated' && !refused.includes(note_id),
  );
  const chosen = escalated.slice(0, engineLimits.escalationQuestionsMax - rest.length);
  return {
    session: { ...session, notes },
    questions: [...chosen.map((note) => linked.get(note.note_id) ?? questionOf(note)), ...rest],
    note_ids: chosen.map(({ note_id }) => note_id),
  };
}

/** Returns true when the text, as a note keeps it, is that of the note. */
function isAbout({ description }: CompletionNote, text: string): boolean {
  const kept = cutText(text.trim(), engineLimits.noteTextCharsMax);
  return normaliseText(kept) === normaliseText(description);
}

/** @returns null when there is no room for another note. */
function noteOf(
  notes: readonly CompletionNote[],
  { text }: AskedQuestion,
  at: number,
): CompletionNote | null {
  const context = 'asked by an output with the status "blocked"';
  return stepNotes(notes, {
    type: 'create',
    description: text,
    context,
    category: 'unclassified',
    at,
  }).note;
}

function escalate(
  notes: readonly CompletionNote[],
  note_id: string,
  { why_it_matters }: AskedQuestion,
): readonly CompletionNote[] {
  const reason = why_it_matters.trim() || 'the agent can not go on without the answer';
  return stepNotes(notes, { type: 'escalate', note_id, reason }).notes;
}

function questionOf(note: CompletionNote): AskedQuestion {
  const { description, context, escalation_reason } = note;
  return {
    text: description,
    why_it_matters: cutText(`${escalation_reason ?? ''} (${context})`, 1_000),
    // Nobody may assume what its author may not decide.
    priority: isForOthers(note) ? 'critical' : 'high',
    expected_answer_format: 'text',
    choices: [],
    default_answer: null,
  };
}

export interface SettledNotes {
  readonly session: SessionState;
  /** The answers; a refusal names the note that it leaves escalated. */
  readonly answers: readonly DeliveredAnswer[];
}

/** Resolves the notes that were asked, by their answers. */
export function settleNotes(
  session: SessionState,
  note_ids: readonly string[],
  given: readonly DeliveredAnswer[],
  at: number,
): SettledNotes {
  let { notes } = session;
  const refused = new Set(session.refused);
  const answers = given.map((answer, index): DeliveredAnswer => {
    const note_id = note_ids[index];
    if (note_id === undefined) return answer;
    if (answer.loop) {
      refused.add(note_id);
      return { ...answer, note_id };
    }
    const resolution = answer.answer ?? `The whole answer is that to ${answer.question_id}.`;
    const by = isPerson(answer.answered_by) ? 'user' : 'workflow_executor';
    notes = stepNotes(notes, { type: 'settle', note_id, resolution, by, at }).notes;
    return answer;
  });
  const left = refused.size === 0 ? {} : { refused: [...refused] };
  return { session: { ...session, notes, ...left }, answers };
}

/** Adds the assumptions of an output as notes, unless there is one of the same words. */
export function noteAssumptions(
  session: SessionState,
  { assumptions_made }: Pick<AgentOutputOutline, 'assumptions_made'>,
  at: number,
): SessionState {
  const notes = assumptions_made.reduce<readonly CompletionNote[]>((before, assumption) => {
    if (before.some((note) => isAbout(note, assumption.statement))) return before;
    const made = stepNotes(before, {
      type: 'create',
      description: assumption.statement,
      context: 'stated in assumptions_made of the output',
      category: 'unclassified',
      at,
    });
    if (made.note === null) return before;
    const resolution = `Taken as an assumption, confidence ${assumption.confidence}.`;
    return stepNotes(made.notes, { type: 'resolve', note_id: made.note.note_id, resolution, at })
      .notes;
  }, session.notes);
  return { ...session, notes };
}
