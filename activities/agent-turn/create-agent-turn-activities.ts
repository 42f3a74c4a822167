import { activityInfo } from '@temporalio/activity';
import type { Activities } from '../../contracts/activity-types.ts';
import { computeMissed } from '../../core/budget/spending.ts';
import { recallRunSpent, recallSpent } from './attempt-ledger.ts';
import { guardActivity } from '../attempt/failures.ts';
import { withHeartbeat } from '../attempt/heartbeat.ts';
import { runModelTurn } from './run-model-turn.ts';
import { runToolCall } from './run-tool-call.ts';
import { shortenUsage } from '../../core/turns/turn-call.ts';
import { readCall } from './conversation.ts';
import { readRegistry } from '../artifacts/read-artifact.ts';
import type { Ref } from '../../contracts/ref.ts';
import type { AgentTurnDeps } from './deps.ts';

/**
 * Creates the activities of an agent's turn: a model call, a look-up of what it was billed, a tool call, and storing a
 * long text.
 *
 * Texts go to the store before an activity returns; activities return references and small facts.
 */
export function createAgentTurnActivities(
  deps: AgentTurnDeps,
): Pick<Activities, 'modelTurn' | 'recallRunSpent' | 'recallSpent' | 'runTool' | 'storeText'> {
  return {
    modelTurn: (call) =>
      guardActivity(async () => {
        const { input, terms_at } = await readCall(deps.store, call);
        const { usage, ...answer } = await runModelTurn(
          await addPinned(deps, input.registry_ref),
          input,
          terms_at,
        );
        return { ...answer, usage: shortenUsage(usage) };
      }),
    recallSpent: ({ activity_id }) =>
      guardActivity(async () => ({
        usage: await recallSpent(deps.ledger, activityInfo(), activity_id),
      })),
    recallRunSpent: ({ place, since, known }) =>
      withHeartbeat(async () => ({
        missed: computeMissed(await recallRunSpent(deps.ledger, place, since), known),
      })),
    runTool: (input) =>
      guardActivity(async () => runToolCall(await addPinned(deps, input.registry_ref), input)),
    storeText: ({ text }) => withHeartbeat(async () => ({ ref: await deps.store.put(text) })),
  };
}

/** Adds the tools that a run has pinned to those of the worker. */
async function addPinned(deps: AgentTurnDeps, registryRef: Ref): Promise<AgentTurnDeps> {
  const { toMcpTool } = deps;
  if (toMcpTool === undefined) return deps;
  const { mcp_tools: pins = [] } = await readRegistry(deps.store, registryRef);
  if (pins.length === 0) return deps;
  return {
    ...deps,
    tools: new Map([...deps.tools, ...pins.map((pin) => [pin.name, toMcpTool(pin)] as const)]),
  };
}
