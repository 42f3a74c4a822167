import type { StateToolCall, ToolCall } from '../../contracts/model-turn.ts';
import type { TeamCall } from '../../contracts/state-call.ts';
import { findMentions } from '../../core/team/find-mentions.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';

/**
 * The calls of a reply, where each task says which others of the same reply it speaks of. Only here all of them and their
 * texts are at hand.
 *
 * @throws StoreUnavailable
 */
export function noteMentions(
  store: ArtifactStore,
  calls: readonly (ToolCall | StateToolCall)[],
): Promise<(ToolCall | StateToolCall)[]> {
  return Promise.all(
    calls.map(async (call) => {
      const task = taskOf(call);
      if (task === null || !('state' in call)) return call;
      const others = calls.flatMap((other) => (other === call ? [] : (taskOf(other) ?? [])));
      if (others.length === 0) return call;
      const mentions = findMentions(await store.getText(task.task_ref), task, others);
      return { ...call, state: { ok: true, call: { ...task, mentions } } };
    }),
  );
}

function taskOf(call: ToolCall | StateToolCall): TeamCall | null {
  if (!('state' in call) || !call.state.ok) return null;
  return call.state.call.tool === 'delegate_task_to_member' ? call.state.call : null;
}
