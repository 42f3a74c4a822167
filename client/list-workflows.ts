import type { WorkflowExecutionInfo } from '@temporalio/client';
import { ifFound } from './client-error.ts';
import { callServer, type ClientContext } from './server-calls.ts';

/** Lists the first workflows that a query of the visibility store finds. */
export function listWorkflows(
  context: ClientContext,
  query: string,
  countMax: number,
): Promise<readonly WorkflowExecutionInfo[]> {
  return callServer(context, null, async () => {
    const found: WorkflowExecutionInfo[] = [];
    for await (const info of context.lists.list({ query, pageSize: countMax })) {
      if (found.length >= countMax) break;
      found.push(info);
    }
    return found;
  });
}

/** Questions to the server at the same time. */
const askedAtOnceMax = 20;

/**
 * Asks the server about each of these workflows. Each question has a deadline of its own, so that a server that is far away
 * answers about many in time. Workflows that are gone meanwhile are left out.
 */
export async function askAboutEach<T>(
  context: ClientContext,
  workflows: readonly WorkflowExecutionInfo[],
  ask: (info: WorkflowExecutionInfo) => Promise<T>,
): Promise<readonly T[]> {
  const answers: (T | null)[] = [];
  for (let at = 0; at < workflows.length; at += askedAtOnceMax) {
    const batch = workflows.slice(at, at + askedAtOnceMax);
    const asked = batch.map((info) =>
      ifFound(callServer(context, info.workflowId, () => ask(info))),
    );
    // Bounded, because each question is work for the server.
    // oxlint-disable-next-line no-await-in-loop
    answers.push(...(await Promise.all(asked)));
  }
  return answers.filter((answer) => answer !== null);
}
