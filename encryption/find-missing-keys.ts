import type { ConnectionLike } from '@temporalio/client';
import { keyIdOf } from './encrypting-codec.ts';
import type { KeyRing } from './key-ring.ts';

/** Most open workflows that are looked at. One that is read shows the keys of all that began at the same time. */
const workflowsMax = 1_000;

interface Place {
  readonly namespace: string;
  readonly taskQueue: string;
  readonly keys: KeyRing;
}

/**
 * Lists the ids of keys that open workflows need and the ring does not have, by the memo that each run has from its start. A
 * worker without them would fail at work that others can do.
 */
async function findMissingKeys(
  { workflowService }: Pick<ConnectionLike, 'workflowService'>,
  { namespace, taskQueue, keys }: Place,
): Promise<readonly string[]> {
  const quoted = `'${taskQueue.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
  const { executions } = await workflowService.listWorkflowExecutions({
    namespace,
    pageSize: workflowsMax,
    query: `ExecutionStatus = 'Running' AND TaskQueue = ${quoted}`,
  });
  const used = executions.flatMap(({ memo }) => Object.values(memo?.fields ?? {}).map(keyIdOf));
  const missing = used.filter((id) => id !== null).filter((id) => !keys.ids.includes(id));
  return [...new Set(missing)].toSorted();
}

/**
 * Describes the keys that open workflows need and the ring does not have, with the cure.
 *
 * @returns null when all are there, and when the server can't list workflows.
 */
export async function describeMissingKeys(
  connection: Pick<ConnectionLike, 'workflowService'>,
  place: Place,
): Promise<string | null> {
  const missing = await findMissingKeys(connection, place).catch(() => []);
  if (missing.length === 0) return null;
  const named = missing.map((id) => `"${id}"`).join(', ');
  return (
    `Open runs are encrypted with ${missing.length === 1 ? 'the key' : 'the keys'} ${named}, which PLANWAVE_KEYS does not have. ` +
    'Try: add each as id:key behind the first key; an old key stays until no run and no stored text needs it'
  );
}
