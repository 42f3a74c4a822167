import { CompletionSession } from '../../contracts/note.ts';
import { readShape } from '../artifacts/read-artifact.ts';
import type { ArtifactStore } from '../ports/artifact-store.ts';
import { doerRules } from '../prompts/common-rules.ts';
import { markData } from '../prompts/mark-data.ts';
import { renderGuide, renderPacket, renderRole, renderTask } from '../prompts/packet-parts.ts';
import { applyInstructions, renderFeedback, readTask } from '../prompts/read-task.ts';
import { renderDissentOfFailed, renderEarlierDissent } from '../prompts/render-pool-blocks.ts';
import { renderUpstream } from '../prompts/render-upstream.ts';
import { jsonBlock } from '../text/blocks.ts';
import { agentOutput } from './agent-output.ts';
import { doerSystem, type PromptOf, type Stage } from './stage.ts';

const request =
  '<request kind="delegation">\nDo the task of your delegation and give your output. Cover each of its acceptance criteria, with evidence for what you met.\n</request>';

/** Renders the notes of an earlier attempt: those of the current session, and of no archived one. */
async function renderSession(
  store: ArtifactStore,
  { session_ref }: PromptOf<'delegation'>,
  callKey: string,
): Promise<string[]> {
  if (session_ref === undefined) return [];
  const session = await readShape(store, session_ref, CompletionSession, 'a session of notes');
  const notes = session.notes.map(({ timestamp: _time, ...note }) => note);
  return [markData(jsonBlock('completion_drive_notes', notes), callKey)];
}

/** Stage in which an agent alone does a delegation and gives its output. */
export const delegationStage: Stage<PromptOf<'delegation'>> = {
  reply: agentOutput,
  tools: 'wave',
  system: doerSystem(doerRules),
  async render(store, prompt, reader) {
    const { agent, callKey } = reader;
    const task = await readTask(store, prompt);
    const { feedback } = prompt;
    const delegation =
      feedback === undefined
        ? task.delegation
        : await applyInstructions(store, task.delegation, feedback);
    const own = [
      renderRole(agent),
      jsonBlock('allowed_tools', agent.allowed_tools),
      ...(await renderGuide(store, task.record, reader)),
      markData(renderUpstream(task, agent), callKey),
      ...(await renderSession(store, prompt, callKey)),
      renderTask(delegation, callKey),
      ...(await renderEarlierDissent(store, task, callKey)),
      ...(feedback === undefined ? [] : await renderFeedback(store, feedback, callKey)),
      ...(await renderDissentOfFailed(store, prompt, callKey)),
    ];
    return renderPacket(store, { request, record: task.record, plan_ref: prompt.plan_ref, own });
  },
};
