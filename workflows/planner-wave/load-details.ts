import type { UpstreamOutput } from '../../contracts/delegation-run.ts';
import type { WaveOrder } from '../../contracts/planner-wave.ts';
import { readingOf, takeRead } from '../execution/call-tools.ts';
import { isToolCall } from '../execution/make-call.ts';
import type { ToolWork } from '../execution/make-call.ts';
import { readOn } from '../shared/conversation.ts';
import type { ConversationContext } from '../shared/conversation.ts';

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
