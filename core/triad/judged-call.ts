import type { OutputFault } from '../../contracts/output-fault.ts';
import type { PhaseSummaryOutline } from '../../contracts/phase-summary.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { SpecState } from '../../contracts/spec.ts';
import type { SpecEvent } from '../spec/spec-events.ts';
import { engineLimits } from '../limits.ts';
import { stepSpec } from '../spec/step-spec.ts';
import type { Assignment } from './phase-state.ts';

/** Records that a member has made in its turn so far, on top of the spec in its brief. */
export interface TurnWork {
  readonly spec: SpecState;
  readonly events: readonly SpecEvent[];
  readonly assignments: readonly Assignment[];
  readonly summary: PhaseSummaryOutline | null;
}

/** Result of a tool call. */
export interface CallAnswer {
  /** Text for the model. */
  readonly text: string;
  /** Text to append after it; null if there is none. */
  readonly current_ref: Ref | null;
  readonly is_error: boolean;
}

/** A section that is to be written as code before the call is answered. */
export interface CodeOrder {
  readonly section_id: string;
  readonly language: string;
  readonly instructions_ref: Ref;
  /** Proposal of the settled claim; null if there is none. */
  readonly proposal_ref: Ref | null;
  /** Present text of the section; null while it is the plan's. */
  readonly text_ref: Ref | null;
}

export type JudgedCall = AnsweredCall | { readonly type: 'write_code'; readonly order: CodeOrder };

export interface AnsweredCall {
  readonly type: 'answered';
  readonly work: TurnWork;
  readonly answer: CallAnswer;
}

/** Puts an event into the records, or refuses the call with the spec's reason. */
export function record(
  work: TurnWork,
  event: SpecEvent,
  describe: (spec: SpecState) => { readonly text: string; readonly current_ref?: Ref },
): AnsweredCall {
  if (work.events.length >= engineLimits.turnRecordsMax) return refuse(work, tooMany);
  const { state: spec, result } = stepSpec(work.spec, event);
  if (!result.ok) return refuse(work, result.fault, result.current_ref);
  const { text, current_ref = null } = describe(spec);
  const next: TurnWork = { ...work, spec, events: [...work.events, event] };
  return { type: 'answered', work: next, answer: { text, current_ref, is_error: false } };
}

const tooMany: OutputFault = {
  path: 'tool',
  reason: `this turn has made ${engineLimits.turnRecordsMax} records`,
  hint: 'Try: end it with what there is',
};

export function answer(work: TurnWork, text: string): AnsweredCall {
  return { type: 'answered', work, answer: { text, current_ref: null, is_error: false } };
}

export function refuse(
  work: TurnWork,
  faults: OutputFault | readonly [OutputFault, ...OutputFault[]],
  current_ref: Ref | null = null,
): AnsweredCall {
  const shown = current_ref === null ? '' : ' What stands now follows.';
  const lines = [faults].flat().map(({ path, reason, hint }) => `${path}: ${reason}. ${hint}.`);
  const text = `Refused: ${lines.join('\n')}${shown}`;
  return { type: 'answered', work, answer: { text, current_ref, is_error: true } };
}
