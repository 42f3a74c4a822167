import type { DelegationOrder } from '../../contracts/delegation-run.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { AskedQuestion, QuestionKind } from '../../contracts/question.ts';
import type { Usage } from '../../contracts/usage.ts';
import { addUsage, noUsage } from '../../core/usage/add-usage.ts';
import type { Control } from '../shared/control.ts';
import type { Conversation } from '../shared/conversation.ts';
import type { Budget } from '../shared/budget.ts';
import type { Superior } from '../shared/superior.ts';
import type { InTurn, ToolWork } from '../execution/call-acting-tool.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { MemberFailure, SpecState } from '../../contracts/spec.ts';
import type { BudgetNode } from '../../core/budget/budget-node.ts';
import type { KnownEffect } from '../../core/output/check-evidence.ts';
import type { TurnWork } from '../../core/triad/judged-call.ts';
import type { PhaseState } from '../../core/triad/phase-state.ts';
import type { FailureReason } from '../../core/turns/turns-state.ts';
import type { TriadOutline, TriadPhase, TriadPhaseInput } from '../../contracts/triad.ts';

/** Order of a delegation to its triad's phase. */
export interface PhaseOrder {
  readonly order: DelegationOrder;
  readonly triad: TriadOutline;
  readonly phase: TriadPhase;
  readonly begin: PhaseBeginning;
  readonly carried: CarriedWork;
}

export type PhaseBeginning =
  | { readonly type: 'open'; readonly spec: SpecState; readonly summary_ref: Ref | null }
  /** Resumes at the turn in which an earlier attempt failed. */
  | { readonly type: 'resume'; readonly state: PhaseState; readonly members: KeptMembers };

/**
 * State of each member that has made a call in the phase, by name: with the phase's state, all that another attempt
 * needs.
 */
export type KeptMembers = Readonly<Record<string, KeptMember>>;

export interface KeptMember {
  readonly conversation: Conversation;
  /** Null between two turns. */
  readonly turn: UnfinishedTurn | null;
}

/** A turn that is running, or was when its phase ended. */
export interface UnfinishedTurn {
  readonly turn: number;
  work: TurnWork;
  /** The member's last text in the turn. */
  said_ref: Ref | null;
  /** True when the newest node of its conversation is a reply. */
  is_answered: boolean;
}

/** State that passes from phase to phase, because it belongs to the whole delegation. */
export interface CarriedWork {
  /** Null without a budget. */
  readonly budget: BudgetNode | null;
  /** Number of model calls of each member so far, by name. */
  readonly calls: Readonly<Record<string, number>>;
  /** Defined in DelegationOutcome. */
  readonly loaded_details: readonly string[];
  /** Attempts to change something outside. */
  readonly effects: readonly KnownEffect[];
}

export interface PhaseFailure {
  /** Text for people: member, phase and message. */
  readonly failure: MemberFailure;
  /** Reason for rules and metrics. */
  readonly why: FailureReason;
}

export interface PhaseResult {
  readonly status: 'done' | 'failed' | 'stopped';
  readonly state: PhaseState;
  /** Null when the phase is done. */
  readonly kept: KeptMembers | null;
  readonly failed: PhaseFailure | null;
  readonly carried: CarriedWork;
  /** Use of this attempt. */
  readonly usage: Usage;
  /** Id of the newest news item that a call was told; 0 for none. Absent in older histories. */
  readonly heard?: number;
}

/** A phase started by a delegation gets its order; one started by hand gets a TriadPhaseInput. */
export type TriadPhaseArgs = { readonly order: PhaseOrder } | TriadPhaseInput;

/** Everything that the turns of a phase's members need. */
export interface MemberContext {
  readonly order: DelegationOrder;
  readonly control: Control;
  readonly superior: Superior;
  readonly budget: Budget;
  /** Tool work of the whole delegation. */
  readonly tools: ToolWork;
  /** Defined in ToolContext: members share the copy of their delegation. */
  readonly inTurn: InTurn;
  /** Puts questions to the user. Throws when the phase is cancelled while it waits. */
  readonly ask: (
    kind: QuestionKind,
    questions: readonly AskedQuestion[],
    deadlineSeconds?: number,
  ) => Promise<readonly DeliveredAnswer[]>;
  /** Called after each visible change. */
  readonly onChange: () => void;
  /** Returns true when the phase is over: then no new call starts. */
  readonly isHalted: () => boolean;
}

export class MemberAtWork {
  /** Null before its first turn in the phase. */
  conversation: Conversation | null;
  /** Null between two turns. */
  turn: UnfinishedTurn | null;
  /** Conversations besides its own in which a section is or was written as code. */
  readonly #codes: Conversation[] = [];
  readonly #callsBefore: number;

  /**
   * @param calls Calls of the whole delegation so far. @param kept State of an earlier attempt at the phase; null in
   * the first.
   */
  constructor(calls: number, kept: KeptMember | null) {
    // The use of an earlier attempt has already been reported.
    this.conversation = kept === null ? null : { ...kept.conversation, usage: noUsage };
    this.turn = kept === null || kept.turn === null ? null : { ...kept.turn };
    this.#callsBefore = calls;
  }

  /** Returns model calls in the whole delegation. */
  calls(): number {
    return this.conversation?.calls ?? this.#callsBefore;
  }

  /** Returns the use in this attempt at the phase. */
  usage(): Usage {
    const own = this.conversation === null ? [] : [this.conversation];
    return addUsage(...[...own, ...this.#codes].map(({ usage }) => usage));
  }

  /** Adds a conversation, whose use counts as the member's from now on. */
  beginCode(conversation: Conversation): void {
    this.#codes.push(conversation);
  }

  /** Adds what a tool of the member has used. */
  addUsage(usage: Usage): void {
    const { conversation } = this;
    if (conversation !== null) conversation.usage = addUsage(conversation.usage, usage);
  }

  /** @param calls Calls that it took to write a section as code. */
  endCode(calls: number): void {
    if (this.conversation !== null) this.conversation.calls += calls;
  }

  /** @returns null when it has made no call. */
  keep(): KeptMember | null {
    return this.conversation === null ? null : { conversation: this.conversation, turn: this.turn };
  }
}
