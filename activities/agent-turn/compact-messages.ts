import type { Message, ToolResultBlock, ToolUseBlock } from '../../contracts/transcript.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { countBytes } from '../text/bytes.ts';
import type { ToolRegistry } from '../tools/tool.ts';

/**
 * Chooses the tool results to leave out so that half of the conversation's bytes are gone: the oldest first, as many as
 * necessary, never the newest, because the model has just requested it.
 *
 * @param leftOut ids that earlier turns left out.
 * @returns further ids to leave out. Empty when nothing more can be left out.
 */
export function chooseLeftOut(
  messages: readonly Message[],
  leftOut: ReadonlySet<string>,
  tools: ToolRegistry,
): readonly string[] {
  const shown = leaveOut(messages, leftOut, tools);
  const results = shown
    .flatMap((message) => message.content)
    .filter((block) => block.type === 'tool_result')
    .filter((block) => !leftOut.has(block.tool_use_id));
  let toGo = countBytes(JSON.stringify(shown)) / 2;
  const chosen: string[] = [];
  for (const result of results.slice(0, -1)) {
    if (toGo <= 0) break;
    chosen.push(result.tool_use_id);
    toGo -= countBytes(result.content);
  }
  return chosen;
}

/** Replaces each result that is left out by a line that says what it was and how to get it again. */
export function leaveOut(
  messages: readonly Message[],
  leftOut: ReadonlySet<string>,
  tools: ToolRegistry,
): readonly Message[] {
  if (leftOut.size === 0) return messages;
  const calls = new Map(
    messages
      .flatMap((message) => message.content)
      .filter((block) => block.type === 'tool_use')
      .map((block) => [block.id, block]),
  );
  return messages.map((message) => ({
    role: message.role,
    content: message.content.map((block) =>
      block.type === 'tool_result' && leftOut.has(block.tool_use_id)
        ? { ...block, content: describeLeftOut(block, calls.get(block.tool_use_id), tools) }
        : block,
    ),
  }));
}

function describeLeftOut(
  result: ToolResultBlock,
  call: ToolUseBlock | undefined,
  tools: ToolRegistry,
): string {
  const bytes = countBytes(result.content);
  const input = cutText(JSON.stringify(call?.input ?? {}), 300);
  const { content } = result;
  const told =
    tools.get(call?.name ?? '')?.describeLeftOut?.({ input, content, bytes }) ??
    `: the result of ${call?.name ?? 'a tool'} ${input}, ${bytes} bytes.`;
  return `[Left out to save space${told}]`;
}
