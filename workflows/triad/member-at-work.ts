import type { DelegationOrder } from '../../contracts/delegation-run.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { AskedQuestion, QuestionKind } from '../../contracts/question.ts';
import type { Usage } from '../../contracts/usage.ts';
import { addUsage, noUsage } from '../../core/usage/add-usage.ts';
import type { ToolWork } from '../execution/make-call.ts';
import type { Control } from '../shared/control.ts';
import type { Conversation } from '../shared/conversation.ts';
import type { Funds } from '../shared/funds.ts';
import type { Superior } from '../shared/superior.ts';
import type { KeptMember, UnfinishedTurn } from './phase-order.ts';

/** What the turns of a phase's members need. */
export interface MemberContext {
  readonly order: DelegationOrder;
  readonly control: Control;
  readonly superior: Superior;
  readonly funds: Funds;
  /** Of the whole delegation. */
  readonly tools: ToolWork;
  /** Puts questions to the user. Throws when the phase is cancelled while it waits. */
  readonly ask: (
    kind: QuestionKind,
    questions: readonly AskedQuestion[],
    deadlineSeconds?: number,
  ) => Promise<readonly DeliveredAnswer[]>;
  /** Called when something that people see has changed. */
  readonly onChange: () => void;
  /** Whether the phase is over: then no new call starts. */
  readonly isHalted: () => boolean;
}

/** A member in one phase. */
export class MemberAtWork {
  /** Null before its first turn in the phase. */
  conversation: Conversation | null;
  /** Null between two turns. */
  turn: UnfinishedTurn | null;
  /** Conversations beside its own, by which a section is or was written as code. */
  readonly #codes: Conversation[] = [];
  readonly #callsBefore: number;

  /** @param calls Of the whole delegation so far. @param kept Of an earlier attempt at the phase; null in the first. */
  constructor(calls: number, kept: KeptMember | null) {
    // What an earlier attempt used is told already.
    this.conversation = kept === null ? null : { ...kept.conversation, usage: noUsage };
    this.turn = kept === null || kept.turn === null ? null : { ...kept.turn };
    this.#callsBefore = calls;
  }

  /** Model calls in the whole delegation. */
  calls(): number {
    return this.conversation?.calls ?? this.#callsBefore;
  }

  /** In this attempt at the phase. */
  usage(): Usage {
    const own = this.conversation === null ? [] : [this.conversation];
    return addUsage(...[...own, ...this.#codes].map(({ usage }) => usage));
  }

  /** From now on its usage is the member's too. */
  beginCode(conversation: Conversation): void {
    this.#codes.push(conversation);
  }

  /** @param calls That it took to write a section as code. */
  endCode(calls: number): void {
    if (this.conversation !== null) this.conversation.calls += calls;
  }

  /** @returns null when it has not spoken. */
  keep(): KeptMember | null {
    return this.conversation === null ? null : { conversation: this.conversation, turn: this.turn };
  }
}
