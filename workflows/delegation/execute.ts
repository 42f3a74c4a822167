import type { DelegationOutcome } from '../../contracts/delegation-run.ts';
import type { ExecutorOutline } from '../../contracts/delegation.ts';
import type { ExecutionContext } from '../execution/execution-context.ts';
import { runTeam } from '../team/run-team.ts';
import { runTriad } from '../triad/run-triad.ts';
import { runAgent } from './run-agent.ts';

/** Has a delegation done by its executor: one agent, three members of a triad, or a team under its leader. */
export function execute(
  executor: ExecutorOutline,
  context: ExecutionContext,
): Promise<DelegationOutcome> {
  switch (executor.kind) {
    case 'agent':
      return runAgent(context);
    case 'triad':
      return runTriad(executor, context);
    case 'team':
      return runTeam({ ...context, execute });
  }
}
