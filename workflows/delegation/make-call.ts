import type { RunToolInput, RunToolResult } from '../../contracts/activity-types.ts';
import type { DelegationOrder } from '../../contracts/delegation-run.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { ToolCall } from '../../contracts/model-turn.ts';
import type { AskedQuestion, QuestionKind } from '../../contracts/question.ts';
import { engineLimits } from '../../core/limits.ts';
import type { KnownEffect } from '../../core/output/check-claimed-effects.ts';
import { cleanLine } from '../../core/text/clean-line.ts';
import { runTool } from '../shared/activities.ts';
import type { Control } from '../shared/control.ts';
import type { Superior } from '../shared/superior.ts';

/** What the tool calls of a delegation leave behind. Changed as they are made. */
export interface ToolWork {
  /** As in DelegationOutcome. */
  loadedDetails: readonly string[];
  /** What they have tried to change outside, in their order. */
  readonly effects: KnownEffect[];
}

/** What the tool calls of a delegation need. */
export interface ToolDesk {
  readonly order: DelegationOrder;
  readonly control: Control;
  readonly superior: Superior;
  readonly work: ToolWork;
  /** Puts one question to the user. Throws when the delegation is cancelled while it waits. */
  readonly ask: (
    kind: QuestionKind,
    question: AskedQuestion,
    deadlineSeconds?: number,
  ) => Promise<DeliveredAnswer | undefined>;
}

/** @param over How many details it may load, and what only calls that change something have. */
export function makeCall(
  call: ToolCall,
  order: DelegationOrder,
  over: Pick<RunToolInput, 'loads_left' | 'effect'>,
): Promise<RunToolResult> {
  const { run_id, registry_ref, record_ref, upstream, delegation } = order;
  const { agent_id } = delegation;
  const label = `${agent_id} · ${delegation.delegation_id} · ${call.name}`;
  return runTool.executeWithOptions({ summary: cleanLine(label, engineLimits.labelCharsMax) }, [
    { run_id, agent_id, registry_ref, call, record_ref, upstream, ...over },
  ]);
}
