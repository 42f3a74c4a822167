import type { AgentOutputOutline } from '../../contracts/agent-output.ts';
import type { TurnOutline } from '../../contracts/model-turn.ts';
import type { DeliveredAnswer } from '../../contracts/messages.ts';
import type { AskedQuestion } from '../../contracts/question.ts';
import { converse, stoppedWhenCancelled, step } from './conversation.ts';
import type { ConversationEnd, ConversationContext, Conversation } from './conversation.ts';
import { stopWhenCancelled } from './failures.ts';

/**
 * Converses until there is an end. The questions of who is blocked are asked, and the same conversation goes on with the
 * answers, so it has all that it had.
 *
 * @param ask Throws when the asker is cancelled while it waits.
 */
export async function converseAsking(
  conversation: Conversation,
  context: ConversationContext,
  ask: (questions: readonly AskedQuestion[]) => Promise<readonly DeliveredAnswer[]>,
): Promise<ConversationEnd> {
  for (;;) {
    const end = await stoppedWhenCancelled(() => converse(conversation, context));
    const output = outputOf(end);
    if (output?.status !== 'blocked') return end;
    const answers = await stopWhenCancelled(() => ask(output.blocking_questions));
    if (answers === null) return { type: 'stopped', words_ref: null };
    resume(conversation, answers);
  }
}

/** Lets a conversation go on with answers to its questions. */
export function resume(conversation: Conversation, answers: readonly DeliveredAnswer[]): void {
  conversation.append = [{ type: 'answers', answers }];
  const isRefused = answers.length > 0 && answers.every(({ loop }) => loop);
  step(conversation, { type: 'resumed', is_refused: isRefused });
}

/** @returns null when it ended in another way. */
export function outputOf(end: ConversationEnd): AgentOutputOutline | null {
  return end.type === 'output' ? outputIn(end.outline) : null;
}

/** @returns null when it is another shape of reply. */
export function outputIn(outline: TurnOutline): AgentOutputOutline | null {
  return outline.shape === 'agent_output' ? outline.output : null;
}
