import { executeChild } from '@temporalio/workflow';

/** A workflow as a user writes one, which starts a part of planwave as its child. */
export async function ownWorkflow(
  type: string,
  taskQueue: string,
  input: object,
): Promise<unknown> {
  return executeChild(type, { taskQueue, args: [input] });
}
