import type { Message, ToolResultBlock, ToolUseBlock } from '../../contracts/transcript.ts';
import { cutText } from '../../core/text/cut-text.ts';
import { countBytes } from '../text/bytes.ts';
import { loadDetailName } from '../tools/load-detail.ts';
import { delegateTaskToMember } from '../tools/state-tools/team-tools.ts';

/**
 * Which tool results to leave out so that half of the conversation's bytes are gone: the oldest first, as many as it
 * takes, never the newest, because the model asked for it just now.
 *
 * @param leftOut ids that earlier turns left out.
 * @returns the ids to leave out besides those. Empty when there is nothing that could go.
 */
export function chooseLeftOut(
  messages: readonly Message[],
  leftOut: ReadonlySet<string>,
): readonly string[] {
  const shown = leaveOut(messages, leftOut);
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

/** The messages with a line in place of each result that is left out: what it was, and how to get it again. */
export function leaveOut(
  messages: readonly Message[],
  leftOut: ReadonlySet<string>,
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
        ? { ...block, content: describeLeftOut(block, calls.get(block.tool_use_id)) }
        : block,
    ),
  }));
}

function describeLeftOut(result: ToolResultBlock, call: ToolUseBlock | undefined): string {
  const bytes = countBytes(result.content);
  const input = cutText(JSON.stringify(call?.input ?? {}), 300);
  if (call?.name === delegateTaskToMember.spec.name) {
    // The engine's own words, with the id to load; what the member wrote comes behind them.
    const [said = ''] = result.content.split('\n', 1);
    return `[Left out to save space, ${bytes} bytes: ${cutText(said, 600)}]`;
  }
  return call?.name === loadDetailName
    ? `[Left out to save space: the detail ${input}, ${bytes} bytes. ${loadDetailName} gives it again.]`
    : `[Left out to save space: the result of ${call?.name ?? 'a tool'} ${input}, ${bytes} bytes.]`;
}
