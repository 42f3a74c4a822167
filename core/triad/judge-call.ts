import type { TurnBrief } from '../../contracts/member-turn.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { PhaseSummaryOutline } from '../../contracts/phase-summary.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { SpecState } from '../../contracts/spec.ts';
import type { StateCall } from '../../contracts/state-call.ts';
import type { SpecEvent } from '../spec/step-spec.ts';
import type { Assignment } from './phase-state.ts';

/** What a member has put into the records in its turn so far, on the spec as its brief showed it. */
export interface TurnWork {
  readonly spec: SpecState;
  readonly events: readonly SpecEvent[];
  readonly assignments: readonly Assignment[];
  readonly summary: PhaseSummaryOutline | null;
}

/** What a tool call comes back with. */
export interface CallAnswer {
  /** For the model. */
  readonly text: string;
  /** A text that follows it; null where there is none. */
  readonly current_ref: Ref | null;
  readonly is_error: boolean;
}

/** A section that is to be written as code before the call is answered. */
export interface CodeOrder {
  readonly section_id: string;
  readonly language: string;
  readonly instructions_ref: Ref;
  /** Of the claim that was settled; null where there is none. */
  readonly proposal_ref: Ref | null;
  /** Of the section as it stands; null while it is the plan's. */
  readonly text_ref: Ref | null;
}

export type JudgedCall =
  | { readonly type: 'answered'; readonly work: TurnWork; readonly answer: CallAnswer }
  | { readonly type: 'write_code'; readonly order: CodeOrder };

export function openWork(_brief: TurnBrief): TurnWork {
  throw new Error('not built');
}

/** Decides one call. A refused one leaves `work` as it was. */
export function judgeCall(_brief: TurnBrief, _work: TurnWork, _call: StateCall): JudgedCall {
  throw new Error('not built');
}

/** Takes the code that was written for an order. @returns what stands in the records; the answer is the code itself. */
export function takeCode(
  _brief: TurnBrief,
  _work: TurnWork,
  _order: CodeOrder,
  _codeRef: Ref,
): TurnWork {
  throw new Error('not built');
}

/** @returns what the member still owes before its turn may end; empty when it may. */
export function findOpenDuties(_brief: TurnBrief, _work: TurnWork): OutputFault[] {
  throw new Error('not built');
}
