import type { DelegationOrder, UpstreamOutput } from '../../contracts/delegation-run.ts';
import type { ToolCall, TurnInput } from '../../contracts/model-turn.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { ReadingScope } from '../../contracts/transcript.ts';
import { countLoadsLeft, noteLoaded } from '../../core/turns/turns-state.ts';
import { callActingTool, isToolCall } from './call-acting-tool.ts';
import { researchWeb } from './research-web.ts';
import type { ToolContext, ToolWork } from './call-acting-tool.ts';
import type { WaveOrder } from '../../contracts/planner-wave.ts';
import { readOn } from '../shared/conversation.ts';
import type { ConversationContext } from '../shared/conversation.ts';

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
function toInput(
  tool_use_id: string,
  { result_ref, is_error }: { readonly result_ref: Ref; readonly is_error: boolean },
): TurnInput {
  return { type: 'tool_result', tool_use_id, result_ref, is_error };
}

/**
 * Lets a planner that decides on a wave load details. Its tools change nothing, so they are called with its replies.
 *
 * @param upstream What the wave brought; besides them, the record's details can be loaded.
 */
export function createDetailLoader(
  { record_ref }: Pick<WaveOrder, 'record_ref'>,
  upstream: readonly UpstreamOutput[],
): Pick<ConversationContext, 'reading' | 'runTools'> {
  const work: Pick<ToolWork, 'loadedDetails'> = { loadedDetails: [] };
  return {
    reading: () => ({ ...readingOf({ record_ref, upstream }, work), acts: false }),
    runTools: async (calls) =>
      readOn(calls.filter(isToolCall).flatMap((call) => takeRead(call, work) ?? [])),
  };
}
