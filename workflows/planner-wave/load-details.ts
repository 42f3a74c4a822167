import type { UpstreamOutput } from '../../contracts/delegation-run.ts';
import type { ToolCall, TurnInput } from '../../contracts/model-turn.ts';
import { plannerAgentId } from '../../contracts/names.ts';
import type { WaveOrder } from '../../contracts/planner-wave.ts';
import { engineLimits } from '../../core/limits.ts';
import { cleanLine } from '../../core/text/cut-text.ts';
import { countLoadsLeft, noteLoaded } from '../../core/turns/note-loaded.ts';
import { doneOf, toInput } from '../delegation/call-tools.ts';
import { isToolCall, runToolParking } from '../delegation/make-call.ts';
import { readOn } from '../shared/conversation.ts';
import type { ConversationDesk } from '../shared/conversation.ts';
import type { Superior } from '../shared/superior.ts';

/**
 * Makes the calls of a planner that decides on a wave: they load details, and change nothing.
 *
 * @param outputs What the wave brought; besides them, the record's details can be loaded.
 */
export function createDetailLoader(
  order: WaveOrder,
  outputs: readonly UpstreamOutput[],
  superior: Superior,
): NonNullable<ConversationDesk['runTools']> {
  let loaded: readonly string[] = [];
  return async (calls) => {
    const asked = calls.filter(isToolCall);
    const left = countLoadsLeft(loaded, asked.length);
    const done = await Promise.all(
      asked.map((call, at) => load(call, { order, outputs, superior, loads_left: left[at] ?? 0 })),
    );
    loaded = noteLoaded(
      loaded,
      done.flatMap((one) => one.loaded_details),
    );
    return readOn(done.map(({ input }) => input));
  };
}

interface Loading {
  readonly order: WaveOrder;
  readonly outputs: readonly UpstreamOutput[];
  readonly superior: Superior;
  readonly loads_left: number;
}

async function load(
  call: ToolCall,
  { order, outputs: upstream, superior, loads_left }: Loading,
): Promise<{ readonly input: TurnInput; readonly loaded_details: readonly string[] }> {
  const { run_id, registry_ref, record_ref, wave } = order;
  const summary = cleanLine(`planner · wave ${wave} · ${call.name}`, engineLimits.labelCharsMax);
  const asked = { run_id, agent_id: plannerAgentId, registry_ref, call, record_ref, upstream };
  const result = await runToolParking({ ...asked, loads_left }, summary, superior);
  const done = doneOf(call, result);
  return { input: toInput(call, done), loaded_details: done.loaded_details };
}
