import type { RunToolResult, ToolDone } from '../../contracts/activity-types.ts';
import type { ToolCall, TurnInput } from '../../contracts/model-turn.ts';
import { countLoadsLeft, noteLoaded } from '../../core/turns/note-loaded.ts';
import { callActingTool } from './call-acting-tool.ts';
import { makeCall } from './make-call.ts';
import type { ToolContext } from './make-call.ts';

/** Makes the calls of one reply: all that change nothing at the same time, then the others in their order. */
export async function callTools(
  calls: readonly ToolCall[],
  context: ToolContext,
): Promise<readonly TurnInput[]> {
  const { work } = context;
  const loadsLeft = countLoadsLeft(work.loadedDetails, calls.length, work.loading);
  work.loading += calls.length;
  const done = await Promise.all(
    calls.map(async (call, at) =>
      call.acts === true ? null : callReadingTool(call, context, loadsLeft[at] ?? 0),
    ),
  ).finally(() => {
    work.loading -= calls.length;
  });
  const loaded = done.flatMap((one) => one?.loaded_details ?? []);
  work.loadedDetails = noteLoaded(work.loadedDetails, loaded);
  const inputs: TurnInput[] = [];
  for (const [at, call] of calls.entries()) {
    const result = done[at] ?? null;
    // A later call may build on what an earlier one has changed.
    // oxlint-disable-next-line no-await-in-loop
    inputs.push(result === null ? await callActingTool(call, context) : toInput(call, result));
  }
  return inputs;
}

async function callReadingTool(
  call: ToolCall,
  context: ToolContext,
  loads_left: number,
): Promise<ToolDone> {
  return doneOf(call, await makeCall(call, context, { loads_left }));
}

/** Returns the result of a call that changes nothing and so never waits for a decision. */
export function doneOf({ name }: ToolCall, result: RunToolResult): ToolDone {
  if (result.type === 'done') return result;
  throw new Error(`${name} changes nothing and waits for nobody.`);
}

/** Formats the result as the model reads it. */
export function toInput({ tool_use_id }: ToolCall, { result_ref, is_error }: ToolDone): TurnInput {
  return { type: 'tool_result', tool_use_id, result_ref, is_error };
}
