import type { CommandContext, CommandResult } from '../command-runner.ts';
import type { ReplayedWorkflow } from '../cli-deps.ts';
import { exitCodes } from '../exit-codes.ts';
import { cleanLine } from '../text/clean-text.ts';

/** What `doctor --replay` does: whether the code of this checkout can carry on every open run, before it has to. */
export async function replayOpenWorkflows(context: CommandContext): Promise<CommandResult> {
  const { client } = await context.session();
  const broken: ReplayedWorkflow[] = [];
  let count = 0;
  for await (const replayed of context.deps.replayHistories(client.openHistories())) {
    count += 1;
    if (replayed.fault !== null) broken.push(replayed);
  }
  const ok = broken.length === 0;
  const found = broken.map(({ workflowId, fault }) => ({
    workflow_id: workflowId,
    fault: cleanLine(fault ?? '', 300),
  }));
  const verdict = `${count} open ${count === 1 ? 'workflow' : 'workflows'} replayed, ${broken.length} would break`;
  const cure = `${context.paint('attention', 'cure:')} a patch (docs/deploys.md), or a worker version of its own for the new code`;
  return {
    data: { ok, replayed: count, broken: found },
    lines: [
      ...found.map(({ workflow_id, fault }) => {
        return `${context.paint('bad', '✗')} ${cleanLine(workflow_id)}: ${fault}`;
      }),
      `${verdict}.`,
      ...(ok ? [] : [`    ${cure}`]),
    ],
    exitCode: ok ? exitCodes.ok : exitCodes.unmet,
  };
}
