import { Client } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import { refusalOf } from './asking.ts';
import type { Stage } from './stage.ts';

/** Payload as sent by the Temporal CLI: unchecked bytes. */
export interface RawPayload {
  readonly encoding: string;
  readonly data: string | Uint8Array;
}

interface Payloads {
  readonly payloads: { metadata: Record<string, Uint8Array>; data: Uint8Array }[];
}

function toPayloads(input: readonly RawPayload[]): Payloads {
  return {
    payloads: input.map(({ encoding, data }) => ({
      metadata: { encoding: Buffer.from(encoding) },
      data: Buffer.from(data),
    })),
  };
}

/** Signals a workflow with payloads that no client library would create. */
export async function signalRaw(
  stage: Stage,
  workflowId: string,
  signalName: string,
  ...input: readonly RawPayload[]
): Promise<void> {
  await stage.client.workflowService.signalWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId },
    signalName,
    requestId: crypto.randomUUID(),
    input: toPayloads(input),
  });
}

/** Starts a workflow with payloads that no client library would create. */
export async function startRaw(
  stage: Stage,
  type: string,
  workflowId: string,
  ...input: readonly RawPayload[]
): Promise<void> {
  await stage.client.workflowService.startWorkflowExecution({
    namespace: 'default',
    workflowId,
    workflowType: { name: type },
    taskQueue: { name: stage.taskQueue },
    requestId: crypto.randomUUID(),
    input: toPayloads(input),
  });
}

/** Queries a workflow with a payload that no client library would create. Resolves with the answer's JSON text. */
export async function queryRaw(
  stage: Stage,
  workflowId: string,
  queryType: string,
  payload: RawPayload,
): Promise<string> {
  const { queryResult } = await stage.client.workflowService.queryWorkflow({
    namespace: 'default',
    execution: { workflowId },
    query: { queryType, queryArgs: toPayloads([payload]) },
  });
  return Buffer.from(queryResult?.payloads?.[0]?.data ?? []).toString('utf8');
}

/** Sends `submitAnswer` with a payload that no client library would create. Resolves with the reason of the refusal. */
export async function updateRaw(
  stage: Stage,
  workflowId: string,
  payload: RawPayload,
): Promise<string> {
  const { connection } = stage.client;
  const codec: PayloadCodec = {
    encode: async () => toPayloads([payload]).payloads,
    decode: async (payloads) => payloads,
  };
  const client = new Client({ connection, dataConverter: { payloadCodecs: [codec] } });
  const { reason } = await refusalOf(client.workflow.getHandle(workflowId), null);
  return reason;
}
