import type { AgentOutputOutline } from '../../contracts/agent-output.ts';
import type { DelegationOrder } from '../../contracts/delegation-run.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { StateToolCall, TurnInput } from '../../contracts/model-turn.ts';
import type { NotesOutline } from '../../contracts/note.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import type { Ref } from '../../contracts/ref.ts';
import { definedOnly } from '../../core/json.ts';
import type { AgentEvent } from '../../core/notes/agent-status.ts';
import {
  askNotes,
  countUnresolved,
  moveSession,
  noteAssumptions,
  openSession,
  renderSession,
  settleNotes,
} from '../../core/notes/session.ts';
import type { SessionState } from '../../core/notes/session.ts';
import { describeFault } from '../../core/text/list-names.ts';
import { recallSession, storeText } from '../shared/activities.ts';
import { nowSeconds } from '../shared/clock.ts';
import { callUntilDone } from '../shared/failures.ts';
import type { Superior } from '../shared/superior.ts';
import { judgeNotes } from '../../core/notes/judge-notes.ts';

/** Session of a delegation: the same one for all attempts at it. Null before the first. */
export interface SessionHolder {
  state: SessionState | null;
}

/** @param known That of earlier attempts. @param carried What work that continues in another history has. */
export function holdSession(
  known: SessionHolder = { state: null },
  carried?: SessionState,
): SessionHolder {
  known.state = carried ?? known.state;
  return known;
}

type Begun = Pick<DelegationOrder, 'notes' | 'chain' | 'session_ref' | 'record_ref'>;

/** Returns true for a delegation whose agent has begun in a wave that was lost. A task of its team has notes of its own. */
export function isBegun<T extends Begun>(order: T): order is T & { readonly session_ref: Ref } {
  return order.notes === true && order.chain === undefined && order.session_ref !== undefined;
}

/** Reads the notes of an agent that begins once more: its files are as they were left, too. */
export async function takeUpSession(
  { session_ref, record_ref }: Pick<DelegationOrder, 'record_ref'> & { readonly session_ref: Ref },
  superior: Superior,
): Promise<SessionState> {
  const what = 'take up notes';
  const input = { session_ref, record_ref };
  const { session, refused } = await callUntilDone(superior, recallSession, what, input);
  return { ...session, status: 'working', ...definedOnly({ refused }) };
}

/** Results of calls that change the notes. */
export interface NotesTaken {
  readonly inputs: readonly TurnInput[];
  readonly faults: readonly OutputFault[];
}

type Place = Pick<DelegationOrder, 'delegation' | 'chain'>;

/** Keeps the session of an agent at work, and reports it to the record whenever it changes. */
export class SessionKeeper {
  readonly #place: Place;
  readonly #superior: Superior;
  readonly #holder: SessionHolder;
  #state: SessionState;
  #reported: SessionState | null = null;
  #ref: Ref | null = null;

  constructor(place: Place, superior: Superior, holder: SessionHolder) {
    this.#place = place;
    this.#superior = superior;
    this.#holder = holder;
    const { delegation_id } = place.delegation;
    // An earlier attempt has failed, or its verification.
    const before = holder.state === null ? null : this.#takeUp(holder.state);
    this.#state = before ?? openSession(delegation_id, nowSeconds());
    holder.state = this.#state;
  }

  get state(): SessionState {
    return this.#state;
  }

  /** Returns the stored session, for an agent that begins with notes of an earlier attempt; null without any. */
  async known(): Promise<Ref | null> {
    return this.#state.notes.length === 0 ? null : this.#store();
  }

  async take(calls: readonly StateToolCall[]): Promise<NotesTaken> {
    const faults: OutputFault[] = [];
    const inputs = calls.map((call): TurnInput => {
      const judged = this.#judge(call);
      faults.push(...judged.faults);
      const { tool_use_id } = call;
      const is_error = judged.faults.length > 0;
      return { type: 'state_result', tool_use_id, text: judged.text, current_ref: null, is_error };
    });
    await this.report();
    return { inputs, faults };
  }

  /** Follows an output: one that claims to be complete begins the review, and ends it when it has no fault. */
  async review(
    output: AgentOutputOutline,
    check: (session: SessionState) => readonly OutputFault[],
  ): Promise<readonly OutputFault[]> {
    const faults = check(this.#state);
    if (output.status === 'completed') {
      this.move('review');
      if (faults.length === 0) {
        this.#put(noteAssumptions(this.#state, output, nowSeconds()));
        this.move('finish');
      }
    }
    await this.report();
    return faults;
  }

  /**
   * Puts all escalated notes and the questions to those who decide, and resolves the notes by the answers. A refusal
   * resolves nothing.
   */
  async ask(
    questions: readonly AskedQuestion[],
    put: (questions: readonly AskedQuestion[]) => Promise<readonly DeliveredAnswer[]>,
  ): Promise<readonly DeliveredAnswer[]> {
    const asked = askNotes(this.#state, questions, nowSeconds());
    this.#put(asked.session);
    this.move('block');
    await this.report();
    const given = await put(asked.questions);
    const settled = settleNotes(this.#state, asked.note_ids, given, nowSeconds());
    this.#put(settled.session);
    this.move('answer');
    await this.report();
    return settled.answers;
  }

  async end(hasFailed: boolean): Promise<NotesOutline> {
    if (hasFailed) this.move('fail');
    await this.report();
    return this.#outline(await this.#store());
  }

  move(event: AgentEvent): void {
    this.#put(moveSession(this.#state, event));
  }

  /** Reports the session to the record, unless it is as it was. */
  async report(): Promise<void> {
    const state = this.#state;
    if (state === this.#reported) return;
    this.#reported = state;
    const { delegation_id, agent_id } = this.#place.delegation;
    const outline = this.#outline(await this.#store());
    const { status, refused } = state;
    const at = nowSeconds();
    const report = { delegation_id, agent_id, status, at, ...outline };
    await this.#superior.reportSession({ ...report, ...definedOnly({ refused }) });
  }

  #takeUp(state: SessionState): SessionState {
    const events = ['reject', 'retry', 'answer', 'revise'] as const;
    return events.reduce<SessionState>(
      (before, event) => (before.status === 'working' ? before : moveSession(before, event)),
      state,
    );
  }

  #judge({ state }: StateToolCall): {
    readonly text: string;
    readonly faults: readonly OutputFault[];
  } {
    if (!state.ok)
      return { text: state.faults.map(describeFault).join('\n'), faults: state.faults };
    if (state.call.tool !== 'completion_note') throw new Error(`${state.call.tool} is no note.`);
    const { session, text, faults } = judgeNotes(this.#state, state.call, nowSeconds());
    this.#put(session);
    return { text, faults };
  }

  #put(state: SessionState): void {
    if (state === this.#state) return;
    if (state.notes !== this.#state.notes) this.#ref = null;
    this.#state = state;
    this.#holder.state = state;
  }

  async #store(): Promise<Ref> {
    this.#ref ??= (await storeText({ text: renderSession(this.#state) })).ref;
    return this.#ref;
  }

  #outline(session_ref: Ref): NotesOutline {
    const { notes } = this.#state;
    return { count: notes.length, unresolved: countUnresolved(notes), session_ref };
  }
}

/** Reports that a verifier passed the work of a session: what depends on it begins long before its wave has ended. */
export async function reportVerified(
  { delegation, chain }: Place,
  notes: NotesOutline | undefined,
  superior: Superior,
): Promise<void> {
  // A task of a team is judged with its delegation.
  if (notes === undefined || chain !== undefined) return;
  const { delegation_id, agent_id } = delegation;
  const at = nowSeconds();
  await superior.reportSession({ delegation_id, agent_id, status: 'verified', at, ...notes });
}
