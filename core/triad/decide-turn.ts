/**
 * Decides what follows from the tool calls of one reply of a member.
 *
 * Invariants:
 *   DT1. A refused call spends an attempt, whatever the other calls of the reply achieved.
 *   DT2. A turn ends by its calls only when no duty is open, no call was refused, and no result must be read first.
 *   DT3. A member that owes an output never ends its turn by calls alone.
 *   DT4. The results of one reply's calls fit into one payload, however many calls there are.
 */
import type { Duties } from '../../contracts/member-turn.ts';
import type { StateToolCall, ToolCall } from '../../contracts/model-turn.ts';
import type { OutputFault } from '../../contracts/output-fault.ts';
import type { StateToolName } from '../../contracts/state-call.ts';
import { engineLimits } from '../limits.ts';
import type { ToolsVerdict } from '../turns/turns-state.ts';

/** Tools whose results the member wants to read. */
const queries: readonly StateToolName[] = ['get_current_claims', 'get_negotiation_state'];

/**
 * @param refused Reasons of refused calls, in their order.
 * @param open Duties that the member still has after them.
 */
export function decideAfterCalls(
  calls: readonly (ToolCall | StateToolCall)[],
  refused: readonly OutputFault[],
  open: readonly OutputFault[],
  duties: Duties,
): ToolsVerdict {
  if (refused.length > 0) return { type: 'invalid', faults: refused };
  const isOver = open.length === 0 && !duties.output && !calls.some(isToBeRead);
  return { type: isOver ? 'finished' : 'go_on' };
}

/**
 * @param told characters in the results of the reply's earlier calls. @returns null when one more call may be answered.
 */
export function findFullFault(told: number): OutputFault | null {
  if (told < engineLimits.stateAnswersCharsMax) return null;
  return {
    path: 'tool',
    reason: 'the calls before it fill all that one reply can be told, so it was not made',
    hint: 'Try: fewer queries in one reply',
  };
}

function isToBeRead(call: ToolCall | StateToolCall): boolean {
  return !('state' in call) || (call.state.ok && queries.includes(call.state.call.tool));
}
