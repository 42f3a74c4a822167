import type { DelegationOrder } from '../../contracts/delegation-run.ts';
import type { ToolCall, TurnInput } from '../../contracts/model-turn.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { ReadingScope } from '../../contracts/transcript.ts';
import { countLoadsLeft, noteLoaded } from '../../core/turns/turns-state.ts';
import { callActingTool } from './call-acting-tool.ts';
import { researchWeb } from './research-web.ts';
import type { ToolContext, ToolWork } from './make-call.ts';

/** Loaded details, which grow with each reply. */
type Loaded = Pick<ToolWork, 'loadedDetails'>;

/**
 * Returns what the tools of the next reply may read.
 *
 * @param atOnce Number of conversations that share `work`.
 */
export function readingOf(
  { record_ref, upstream }: Pick<DelegationOrder, 'record_ref' | 'upstream'>,
  { loadedDetails }: Loaded,
  atOnce = 1,
): ReadingScope {
  return { record_ref, upstream, loads_left: countLoadsLeft(loadedDetails, atOnce), acts: true };
}

/** Makes the calls of one reply that change something, in their order, and takes over the results of the others. */
export async function callTools(
  calls: readonly ToolCall[],
  context: ToolContext,
): Promise<readonly TurnInput[]> {
  const inputs: TurnInput[] = [];
  for (const call of calls) {
    // A later call may build on what an earlier one has changed.
    // oxlint-disable-next-line no-await-in-loop
    inputs.push(takeRead(call, context.work) ?? (await makeOutside(call, context)));
  }
  return inputs;
}

function makeOutside(call: ToolCall, context: ToolContext): Promise<TurnInput> {
  const { research } = call;
  return research === undefined
    ? callActingTool(call, context)
    : researchWeb({ ...call, research }, context);
}

/** Takes over the result of a call that was made with its reply. @returns null for one that is still to be made. */
export function takeRead({ tool_use_id, read }: ToolCall, work: Loaded): TurnInput | null {
  if (read === undefined) return null;
  work.loadedDetails = noteLoaded(work.loadedDetails, read.loaded_details);
  return toInput(tool_use_id, read);
}

/** Formats a result as the model reads it. */
export function toInput(
  tool_use_id: string,
  { result_ref, is_error }: { readonly result_ref: Ref; readonly is_error: boolean },
): TurnInput {
  return { type: 'tool_result', tool_use_id, result_ref, is_error };
}
