import { activityInfo } from '@temporalio/activity';
import type { Activities } from '../../contracts/activity-types.ts';
import { recallSpent } from './attempt-ledger.ts';
import { guardActivity } from '../attempt/failures.ts';
import { withHeartbeat } from '../attempt/heartbeat.ts';
import { runModelTurn } from './run-model-turn.ts';
import { runToolCall } from './run-tool-call.ts';
import type { AgentTurnDeps } from './deps.ts';

/**
 * The activities of an agent's turn: one model call, what it was billed, one tool call, and keeping a long text.
 *
 * Texts go to the store before an activity returns; what it returns are references and small facts.
 */
export function createAgentTurnActivities(
  deps: AgentTurnDeps,
): Pick<Activities, 'modelTurn' | 'recallSpent' | 'runTool' | 'storeText'> {
  return {
    modelTurn: (input) => guardActivity(() => runModelTurn(deps, input)),
    recallSpent: ({ activity_id }) =>
      guardActivity(async () => ({
        usage: await recallSpent(deps.ledger, activityInfo(), activity_id),
      })),
    runTool: (input) => guardActivity(() => runToolCall(deps, input)),
    storeText: ({ text }) =>
      guardActivity(() => withHeartbeat(async () => ({ ref: await deps.store.put(text) }))),
  };
}
