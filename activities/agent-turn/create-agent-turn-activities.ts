import { activityInfo } from '@temporalio/activity';
import type { Activities } from '../../contracts/activity-types.ts';
import { recallRunSpent, recallSpent } from './attempt-ledger.ts';
import { guardActivity } from '../attempt/failures.ts';
import { withHeartbeat } from '../attempt/heartbeat.ts';
import { runModelTurn } from './run-model-turn.ts';
import { runToolCall } from './run-tool-call.ts';
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
    modelTurn: (input) => guardActivity(() => runModelTurn(deps, input)),
    recallSpent: ({ activity_id }) =>
      guardActivity(async () => ({
        usage: await recallSpent(deps.ledger, activityInfo(), activity_id),
      })),
    recallRunSpent: ({ place, since }) =>
      guardActivity(() =>
        withHeartbeat(async () => ({ usage: await recallRunSpent(deps.ledger, place, since) })),
      ),
    runTool: (input) => guardActivity(() => runToolCall(deps, input)),
    storeText: ({ text }) =>
      guardActivity(() => withHeartbeat(async () => ({ ref: await deps.store.put(text) }))),
  };
}
